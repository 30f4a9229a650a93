//! Properties of all inputs, compared with naive models.

mod invocations;
#[cfg(feature = "testing")]
mod scopes;
mod templates;
#[cfg(feature = "testing")]
mod windows;
