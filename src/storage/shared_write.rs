//! A write that is carried out: whoever began it gets it back at the end.

use std::cell::RefCell;
use std::rc::Rc;

use crate::error::Error;
use crate::write::Write;

/// See the module. A clone is the same write.
#[derive(Clone)]
pub(crate) struct SharedWrite(Rc<RefCell<Write>>);

impl SharedWrite {
    pub(crate) fn new(write: Write) -> Self {
        Self(Rc::new(RefCell::new(write)))
    }

    /// # Errors
    /// `storage_failed` if an exception of JavaScript ended an earlier use.
    pub(crate) fn with<T>(&self, use_it: impl FnOnce(&mut Write) -> T) -> Result<T, Error> {
        let mut write = self.0.try_borrow_mut().map_err(|_| broken_off())?;
        Ok(use_it(&mut write))
    }

    /// The write, once nobody carries it out any more.
    ///
    /// # Errors
    /// `storage_failed` if an exception of JavaScript ended it.
    pub(crate) fn take(self) -> Result<Write, Error> {
        Rc::try_unwrap(self.0).map(RefCell::into_inner).map_err(|_| broken_off())
    }
}

fn broken_off() -> Error {
    Error::StorageFailed { reason: "an exception ended the write".into() }
}
