//! A decision that is lent to a storage until the verb answers.

use std::cell::RefCell;
use std::rc::Rc;

use crate::error::Error;
use crate::storage::{Changes, Decide, Found};

/// A decision as a storage asks it, whichever it is.
pub type Asked<T> = Rc<RefCell<dyn Decide<T>>>;

/// See the module.
pub struct Lent<D>(Rc<RefCell<Option<D>>>);

impl<D> Lent<D> {
    pub fn new(decision: D) -> Self {
        Self(Rc::new(RefCell::new(Some(decision))))
    }

    pub fn asked<T>(&self) -> Asked<T>
    where
        D: Decide<T> + 'static,
    {
        Rc::clone(&self.0) as _
    }

    pub fn take_back(self) -> Result<D, Error> {
        // An exception that ended a decision has left it borrowed.
        let mut decision = self.0.try_borrow_mut().map_err(|_| broken_off())?;
        decision.take().ok_or_else(|| Error::StorageFailed { reason: "it answered twice".into() })
    }
}

/// Of a decision that an exception of JavaScript ended.
pub(super) fn broken_off() -> Error {
    Error::StorageFailed { reason: "an exception broke its decision off".into() }
}

impl<T, D: Decide<T>> Decide<T> for Option<D> {
    fn decide(&mut self, found: Found<'_, T>) -> Option<Changes<T>> {
        self.as_mut()?.decide(found)
    }
}
