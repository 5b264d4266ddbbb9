//! Publish and dispatch: producers, subscriptions, permits, redelivery
