//! Listeners, read and write loops, the threads that desks and disks sit on, the HTTP door
