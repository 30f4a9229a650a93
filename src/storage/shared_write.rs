//! A write in progress, shared by its caller and by the code that carries it out.

use std::cell::RefCell;
use std::rc::Rc;

use crate::error::Error;
use crate::write::Write;

/// A shared write. A clone is the same write.
#[derive(Clone)]
pub(crate) struct SharedWrite(Rc<RefCell<Write>>);

impl SharedWrite {
    pub(crate) fn new(write: Write) -> Self {
        Self(Rc::new(RefCell::new(write)))
    }

    /// # Errors
    /// Fails with `storage_failed` if a JavaScript exception ended an earlier use.
    pub(crate) fn with<T>(&self, use_it: impl FnOnce(&mut Write) -> T) -> Result<T, Error> {
        let mut write = self.0.try_borrow_mut().map_err(|_| broken_off())?;
        Ok(use_it(&mut write))
    }

    /// Returns the write, after all other clones are dropped.
    ///
    /// # Errors
    /// Fails with `storage_failed` if a clone remains, because a JavaScript exception ended its
    /// use.
    pub(crate) fn take(self) -> Result<Write, Error> {
        Rc::try_unwrap(self.0).map(RefCell::into_inner).map_err(|_| broken_off())
    }
}

fn broken_off() -> Error {
    Error::StorageFailed { reason: "an exception ended the write".into() }
}
