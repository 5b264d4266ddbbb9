//! A broker and many clients in one thread, from one seed
