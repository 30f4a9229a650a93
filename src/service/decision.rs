//! The decisions as one type.
//!
//! A storage's verbs are generic over the decision they ask. With one type of it they stand in the
//! wasm once, and not once for each kind of write.

use crate::error::Error;
use crate::service::append::{AppendDecision, LookDecision, Position};
use crate::service::create::{CreateDecision, Created};
use crate::service::update::UpdateDecision;
use crate::session::SessionKey;
use crate::storage::{Changes, Decide, EventText, Found, ScopeRevisions};

/// What a service asks a storage to decide.
pub(crate) enum Decision<T> {
    Create(CreateDecision),
    Append(AppendDecision<T>),
    Look(LookDecision),
    Update(UpdateDecision),
}

impl<T: EventText> Decide<T> for Decision<T> {
    fn decide(&mut self, found: Found<'_, T>) -> Option<Changes<T>> {
        match self {
            Self::Create(decision) => decision.decide(found),
            Self::Append(decision) => decision.decide(found),
            Self::Look(decision) => decision.decide(found),
            Self::Update(decision) => decision.decide(found),
        }
    }

    fn decide_last(&mut self, found: Found<'_, T>) -> Option<Changes<T>> {
        match self {
            Self::Append(decision) => decision.decide_last(found),
            decision => decision.decide(found),
        }
    }
}

impl<T: EventText> Decision<T> {
    /// What [`Decision::Create`] did.
    pub(super) fn created(self) -> Result<Option<Created>, Error> {
        match self {
            Self::Create(decision) => decision.created(),
            _ => Err(exchanged()),
        }
    }

    /// [`Decision::Append`], which knows what it did.
    pub(crate) fn into_append(self) -> Result<AppendDecision<T>, Error> {
        match self {
            Self::Append(decision) => Ok(decision),
            _ => Err(exchanged()),
        }
    }

    /// What [`Decision::Update`] changed.
    pub(super) fn updated(self) -> Result<ScopeRevisions, Error> {
        match self {
            Self::Update(decision) => Ok(decision.updated()),
            _ => Err(exchanged()),
        }
    }

    /// What [`Decision::Look`] found.
    pub(super) fn position(self, key: &SessionKey) -> Result<Position, Error> {
        match self {
            Self::Look(decision) => decision.position(key),
            _ => Err(exchanged()),
        }
    }
}

/// A storage hands back the decision that it was handed; no other can come.
fn exchanged() -> Error {
    Error::StorageFailed { reason: "it handed back another decision".into() }
}
