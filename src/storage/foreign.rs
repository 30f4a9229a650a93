//! A storage that is a JavaScript object with the five verbs: a user's own, or SQL.
//!
//! Event texts stay JavaScript strings and never enter wasm; what crosses is the few fields that
//! the rules need, and the states that a write touches.

use std::cell::RefCell;
use std::rc::Rc;

use hashbrown::HashMap;
use js_sys::Promise;
use serde::{Deserialize, Serialize};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;

use crate::error::Error;
use crate::session::{SessionHead, SessionKey, Window};
use crate::state::ScopedState;
use crate::storage::{
    Changes, Decide, Deletion, EventRow, Found, ListRequest, Listing, Rows, ScopeChange, ScopeRow,
    ScopeSet, SessionRow, Storage, Target, WriteRequest,
};

#[wasm_bindgen]
extern "C" {
    /// The object; its exact types are `StorageAdapter` in `js/storage_adapter.ts`.
    pub type Adapter;
    #[wasm_bindgen(method, catch)]
    fn create(this: &Adapter, request: JsValue, decide: &JsValue) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn append(this: &Adapter, request: JsValue, decide: &JsValue) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn read(this: &Adapter, request: JsValue) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn list(this: &Adapter, request: JsValue) -> Result<JsValue, JsValue>;
    #[wasm_bindgen(method, catch)]
    fn delete(this: &Adapter, request: JsValue) -> Result<JsValue, JsValue>;
}

/// A JavaScript string.
#[derive(Clone, Debug)]
pub struct ForeignText(pub JsValue);

impl PartialEq for ForeignText {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// See the module.
pub struct ForeignStorage {
    adapter: Adapter,
}

impl ForeignStorage {
    pub fn new(adapter: Adapter) -> Self {
        Self { adapter }
    }

    /// One of the two verbs that write.
    async fn write<D: Decide<ForeignText> + 'static>(
        &self,
        verb: &'static str,
        call: impl Fn(&Adapter, JsValue, &JsValue) -> Result<JsValue, JsValue>,
        request: WriteRequest,
        decision: D,
    ) -> Result<D, JsValue> {
        let shared = Rc::new(RefCell::new(Some(decision)));
        let asked = Rc::clone(&shared);
        let (target, scopes) = (request.target.clone(), request.scopes);
        // The closure lives until the adapter has answered: called any later, it throws.
        let decide = Closure::<dyn FnMut(JsValue) -> Result<JsValue, JsValue>>::new(
            move |found: JsValue| match asked.borrow_mut().as_mut() {
                Some(decision) => decide(verb, &target, scopes, found, decision),
                None => Err(failed(verb, "called decide after it had answered")),
            },
        );
        let answer =
            call(&self.adapter, to_javascript(&WriteOut::from(request))?, decide.as_ref())?;
        JsFuture::from(Promise::resolve(&answer)).await?;
        let decision = shared.borrow_mut().take();
        decision.ok_or_else(|| failed(verb, "answered twice"))
    }

    async fn ask<Answer: for<'de> Deserialize<'de>>(
        &self,
        verb: &'static str,
        answer: Result<JsValue, JsValue>,
    ) -> Result<Answer, JsValue> {
        let answer = JsFuture::from(Promise::resolve(&answer?)).await?;
        from_javascript(verb, answer)
    }
}

impl Storage for ForeignStorage {
    type Text = ForeignText;
    type Failure = JsValue;

    async fn create<D: Decide<ForeignText> + 'static>(
        &self,
        request: WriteRequest,
        decision: D,
    ) -> Result<D, JsValue> {
        self.write("create", Adapter::create, request, decision).await
    }

    async fn append<D: Decide<ForeignText> + 'static>(
        &self,
        request: WriteRequest,
        decision: D,
    ) -> Result<D, JsValue> {
        self.write("append", Adapter::append, request, decision).await
    }

    async fn read(&self, target: Target, window: Window) -> Result<Rows<ForeignText>, JsValue> {
        let request = ReadOut {
            key: KeyOut::from(target.clone()),
            window: WindowOut { last: window.last, after: window.after },
        };
        let rows: RowsIn = self.ask("read", self.adapter.read(to_javascript(&request)?)).await?;
        let session = rows.session.map(|row| row.read(&target)).transpose()?;
        Ok(Rows {
            session,
            user: rows.user.map(|row| row.read("user state")).transpose()?,
            app: rows.app.map(|row| row.read("app state")).transpose()?,
            events: rows.events.into_iter().map(|row| ForeignText(row.text)).collect(),
        })
    }

    async fn list(&self, request: ListRequest) -> Result<Listing, JsValue> {
        let app_name = request.app_name.clone();
        let request = ListOut {
            app_name: request.app_name,
            user_id: request.user_id,
            order: if request.descending { "desc" } else { "asc" },
            offset: request.page.offset,
            limit: request.page.limit,
        };
        let listing: ListingIn =
            self.ask("list", self.adapter.list(to_javascript(&request)?)).await?;
        let mut sessions = Vec::with_capacity(listing.sessions.len());
        for row in listing.sessions {
            let target = Target {
                app_name: app_name.clone(),
                user_id: Some(row.user_id.clone()),
                session_id: Some(row.session_id.clone()),
            };
            sessions.push(row.read(&target)?);
        }
        let mut users = HashMap::with_capacity(listing.users.len());
        for user in listing.users {
            users.insert(user.user_id, user.row.read("user state")?);
        }
        let app = listing.app.map(|row| row.read("app state")).transpose()?;
        Ok(Listing { sessions, users, app, total: listing.total })
    }

    async fn delete(&self, deletion: Deletion) -> Result<(), JsValue> {
        let request = DeletionOut::from(deletion);
        let answer = self.adapter.delete(to_javascript(&request)?)?;
        JsFuture::from(Promise::resolve(&answer)).await?;
        Ok(())
    }
}

/// Translates what the adapter found, asks, and translates the answer; `undefined` means that
/// there is nothing to write.
fn decide<D: Decide<ForeignText>>(
    verb: &'static str,
    target: &Target,
    scopes: ScopeSet,
    found: JsValue,
    decision: &mut D,
) -> Result<JsValue, JsValue> {
    let found: FoundIn = from_javascript(verb, found)?;
    let user = found.user.map(|row| row.read("user state")).transpose()?;
    let app = found.app.map(|row| row.read("app state")).transpose()?;
    let answer = decision.decide(Found {
        session: found.session.as_ref().map(SessionIn::head),
        user: user.as_ref().filter(|_| scopes.user),
        app: app.as_ref().filter(|_| scopes.app),
        events: found.events.into_iter().map(EventRow::from).collect(),
        changed: found.changed.into_iter().map(EventRow::from).collect(),
        floor: found.floor,
    });
    let Some(changes) = answer else {
        return Ok(JsValue::UNDEFINED);
    };
    to_javascript(&changes_out(target, changes, found.session, user, app)?)
}

fn changes_out(
    target: &Target,
    changes: Changes<ForeignText>,
    stored: Option<SessionIn>,
    user: Option<ScopeRow>,
    app: Option<ScopeRow>,
) -> Result<ChangesOut, JsValue> {
    let session = match changes.session {
        None => None,
        Some(change) => {
            // A state that no change touches is passed on as the adapter gave it, unread.
            let state = match stored {
                Some(stored) if change.state.is_empty() => stored.state,
                stored => {
                    let row = stored.map(|stored| stored.read(target)).transpose()?;
                    let mut state = row.map(|row| row.state).unwrap_or_default();
                    state.apply(change.state);
                    JsValue::from_str(&state.to_json())
                }
            };
            Some(SessionOut {
                app_name: target.app_name.clone(),
                user_id: target.user_id.clone().unwrap_or_default(),
                session_id: target.session_id.clone().unwrap_or_default(),
                created: change.head.created,
                revision: change.head.revision,
                last_update_time: change.head.last_update_time,
                state,
            })
        }
    };
    Ok(ChangesOut {
        session,
        user: changes.user.map(|change| ScopeOut::new(user, change)),
        app: changes.app.map(|change| ScopeOut::new(app, change)),
        events: changes.events.into_iter().map(EventJs::from).collect(),
    })
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct KeyOut {
    app_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
}

impl From<Target> for KeyOut {
    fn from(target: Target) -> Self {
        Self { app_name: target.app_name, user_id: target.user_id, session_id: target.session_id }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct WriteOut {
    key: KeyOut,
    scopes: Vec<&'static str>,
    event_ids: Vec<Box<str>>,
    since: u64,
}

impl From<WriteRequest> for WriteOut {
    fn from(request: WriteRequest) -> Self {
        let ScopeSet { session, user, app } = request.scopes;
        let named = [(session, "session"), (user, "user"), (app, "app")];
        Self {
            key: request.target.into(),
            scopes: named.iter().filter(|(asked, _)| *asked).map(|(_, name)| *name).collect(),
            event_ids: request.event_ids,
            since: request.since,
        }
    }
}

#[derive(Serialize)]
struct WindowOut {
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<f64>,
}

#[derive(Serialize)]
struct ReadOut {
    key: KeyOut,
    window: WindowOut,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ListOut {
    app_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<String>,
    order: &'static str,
    offset: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<usize>,
}

#[derive(Serialize)]
struct DeletionOut {
    what: &'static str,
    key: KeyOut,
}

impl From<Deletion> for DeletionOut {
    fn from(deletion: Deletion) -> Self {
        let (what, app_name, user_id, session_id) = match deletion {
            Deletion::Session(SessionKey { app_name, user_id, session_id }) => {
                ("session", app_name, Some(user_id), Some(session_id))
            }
            Deletion::User { app_name, user_id } => ("user", app_name, Some(user_id), None),
            Deletion::UserState { app_name, user_id } => {
                ("userState", app_name, Some(user_id), None)
            }
            Deletion::AppState { app_name } => ("appState", app_name, None, None),
        };
        Self { what, key: KeyOut { app_name, user_id, session_id } }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SessionOut {
    app_name: String,
    user_id: String,
    session_id: String,
    created: u64,
    revision: u64,
    last_update_time: f64,
    #[serde(with = "serde_wasm_bindgen::preserve")]
    state: JsValue,
}

#[derive(Serialize)]
struct ScopeOut {
    revision: u64,
    state: String,
}

impl ScopeOut {
    fn new(stored: Option<ScopeRow>, change: ScopeChange) -> Self {
        let mut state = stored.map(|row| row.state).unwrap_or_default();
        state.apply(change.state);
        Self { revision: change.revision, state: state.to_json() }
    }
}

#[derive(Serialize)]
struct ChangesOut {
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<SessionOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    user: Option<ScopeOut>,
    #[serde(skip_serializing_if = "Option::is_none")]
    app: Option<ScopeOut>,
    events: Vec<EventJs>,
}

#[derive(Serialize, Deserialize)]
struct EventJs {
    id: Box<str>,
    seq: u64,
    revision: u64,
    timestamp: f64,
    #[serde(with = "serde_wasm_bindgen::preserve")]
    text: JsValue,
}

impl From<EventJs> for EventRow<ForeignText> {
    fn from(row: EventJs) -> Self {
        Self {
            id: row.id,
            seq: row.seq,
            revision: row.revision,
            timestamp: row.timestamp,
            text: ForeignText(row.text),
        }
    }
}

impl From<EventRow<ForeignText>> for EventJs {
    fn from(row: EventRow<ForeignText>) -> Self {
        Self {
            id: row.id,
            seq: row.seq,
            revision: row.revision,
            timestamp: row.timestamp,
            text: row.text.0,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionIn {
    user_id: String,
    session_id: String,
    created: u64,
    revision: u64,
    last_update_time: f64,
    #[serde(with = "serde_wasm_bindgen::preserve")]
    state: JsValue,
}

impl SessionIn {
    fn head(&self) -> SessionHead {
        SessionHead {
            created: self.created,
            revision: self.revision,
            last_update_time: self.last_update_time,
        }
    }

    fn read(self, target: &Target) -> Result<SessionRow, JsValue> {
        let head = self.head();
        let record = || format!("state of session {:?}", self.session_id);
        let state = read_state(&self.state.as_string().unwrap_or_default(), record)?;
        let key = SessionKey {
            app_name: target.app_name.clone(),
            user_id: self.user_id,
            session_id: self.session_id,
        };
        Ok(SessionRow { key, head, state })
    }
}

#[derive(Deserialize)]
struct ScopeIn {
    revision: u64,
    state: String,
}

impl ScopeIn {
    fn read(self, record: &str) -> Result<ScopeRow, JsValue> {
        let state = read_state(&self.state, || record.to_owned())?;
        Ok(ScopeRow { revision: self.revision, state })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UserIn {
    user_id: String,
    #[serde(flatten)]
    row: ScopeIn,
}

#[derive(Deserialize)]
struct FoundIn {
    session: Option<SessionIn>,
    user: Option<ScopeIn>,
    app: Option<ScopeIn>,
    events: Vec<EventJs>,
    changed: Vec<EventJs>,
    floor: u64,
}

#[derive(Deserialize)]
struct RowsIn {
    session: Option<SessionIn>,
    user: Option<ScopeIn>,
    app: Option<ScopeIn>,
    events: Vec<EventJs>,
}

#[derive(Deserialize)]
struct ListingIn {
    sessions: Vec<SessionIn>,
    users: Vec<UserIn>,
    app: Option<ScopeIn>,
    total: usize,
}

fn read_state(text: &str, record: impl FnOnce() -> String) -> Result<ScopedState, JsValue> {
    ScopedState::parse(text).map_err(|error| {
        Error::CorruptRecord { record: record(), reason: error.to_string() }.into()
    })
}

fn to_javascript(value: &impl Serialize) -> Result<JsValue, JsValue> {
    Ok(serde_wasm_bindgen::to_value(value)?)
}

fn from_javascript<T: for<'de> Deserialize<'de>>(
    verb: &'static str,
    value: JsValue,
) -> Result<T, JsValue> {
    serde_wasm_bindgen::from_value(value).map_err(|error| failed(verb, &error.to_string()))
}

fn failed(verb: &str, what: &str) -> JsValue {
    Error::StorageFailed { reason: format!("its {verb} gave {what}") }.into()
}
