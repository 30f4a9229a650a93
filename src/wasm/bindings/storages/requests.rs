//! Requests of the verbs that run once a turn or less. They arrive as objects, whose members are read one by
//! one: `Deserialize` would add 16 KB to the gzipped wasm.

use adk_session::error::Error;
use adk_session::internals::check_owner;
use adk_session::read::{ListOrder, ListPlace, ListQuery, PageEnd, PageQuery, Read};
use adk_session::session::{DescriptionChange, Revision, SessionKey, Timestamp};
use adk_session::storage::Deletion;
use wasm_bindgen::prelude::*;

use crate::indexed_db::EventsRead;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = r#"
export interface KeyObject {
  readonly appName: string;
  readonly userId?: string | undefined;
  readonly sessionId?: string | undefined;
}
export interface DescribeObject {
  readonly key: Required<KeyObject>;
  readonly title?: string | undefined;
  readonly labels?: string | undefined;
}
export interface PageObject {
  readonly key: Required<KeyObject>;
  readonly direction: 'before' | 'after';
  readonly eventId: string | undefined;
  readonly limit: number;
  readonly withCount: boolean;
  readonly onlyMarkers?: boolean;
}
export interface ListObject {
  readonly appName: string;
  readonly userId?: string | undefined;
  readonly order: 'asc' | 'desc';
  readonly orderBy: 'lastUpdateTime' | 'createTime';
  readonly offset: number;
  readonly limit: number | undefined;
  readonly withTotal: boolean;
  readonly after?: PlaceObject | undefined;
}
export interface PlaceObject {
  readonly lastUpdateTime?: number | undefined;
  readonly createTime?: number | undefined;
  readonly sessionId: string;
  readonly userId: string;
}
export interface DeleteObject {
  readonly what: 'session' | 'user' | 'userState' | 'appState';
  readonly key: KeyObject;
  readonly revision?: number | undefined;
  readonly labels?: string | undefined;
}
"#;

// A getter of two types is declared once, in a type that both extend: each is an import of the wasm.
#[wasm_bindgen]
extern "C" {
    /// The key of a session, a user or an app.
    #[wasm_bindgen(typescript_type = "KeyObject")]
    pub type KeyObject;
    #[wasm_bindgen(method, structural, getter, js_name = appName)]
    fn app_name(this: &KeyObject) -> String;
    #[wasm_bindgen(method, structural, getter, js_name = userId)]
    fn user_id(this: &KeyObject) -> Option<String>;
    #[wasm_bindgen(method, structural, getter, js_name = sessionId)]
    fn session_id(this: &KeyObject) -> Option<String>;

    /// A request for what a key names. Some have labels.
    pub type KeyedObject;
    #[wasm_bindgen(method, structural, getter)]
    fn key(this: &KeyedObject) -> KeyObject;
    #[wasm_bindgen(method, structural, getter)]
    fn labels(this: &KeyedObject) -> Option<String>;

    /// A change of a session's description.
    #[wasm_bindgen(extends = KeyedObject, typescript_type = "DescribeObject")]
    pub type DescribeObject;
    #[wasm_bindgen(method, structural, getter)]
    fn title(this: &DescribeObject) -> Option<String>;

    /// The page of events to read.
    #[wasm_bindgen(extends = KeyedObject, typescript_type = "PageObject")]
    pub type PageObject;
    #[wasm_bindgen(method, structural, getter)]
    fn direction(this: &PageObject) -> String;
    #[wasm_bindgen(method, structural, getter, js_name = eventId)]
    fn event_id(this: &PageObject) -> Option<String>;
    #[wasm_bindgen(method, structural, getter)]
    fn limit(this: &PageObject) -> Option<f64>;
    #[wasm_bindgen(method, structural, getter, js_name = withCount)]
    fn with_count(this: &PageObject) -> bool;
    #[wasm_bindgen(method, structural, getter, js_name = onlyMarkers)]
    fn only_markers(this: &PageObject) -> Option<bool>;

    /// The place of a session in a list. It has no `appName`.
    #[wasm_bindgen(extends = KeyObject, typescript_type = "PlaceObject")]
    pub type PlaceObject;
    #[wasm_bindgen(method, structural, getter, js_name = lastUpdateTime)]
    fn last_update_time(this: &PlaceObject) -> Option<f64>;
    #[wasm_bindgen(method, structural, getter, js_name = createTime)]
    fn create_time(this: &PlaceObject) -> Option<f64>;

    /// The page of a list to read. It has no `sessionId`.
    #[wasm_bindgen(extends = KeyObject, typescript_type = "ListObject")]
    pub type ListObject;
    #[wasm_bindgen(method, structural, getter)]
    fn order(this: &ListObject) -> String;
    #[wasm_bindgen(method, structural, getter, js_name = orderBy)]
    fn order_by(this: &ListObject) -> String;
    #[wasm_bindgen(method, structural, getter)]
    fn offset(this: &ListObject) -> f64;
    #[wasm_bindgen(method, structural, getter)]
    fn limit(this: &ListObject) -> Option<f64>;
    #[wasm_bindgen(method, structural, getter, js_name = withTotal)]
    fn with_total(this: &ListObject) -> bool;
    #[wasm_bindgen(method, structural, getter)]
    fn after(this: &ListObject) -> Option<PlaceObject>;

    /// A deletion.
    #[wasm_bindgen(extends = KeyedObject, typescript_type = "DeleteObject")]
    pub type DeleteObject;
    #[wasm_bindgen(method, structural, getter)]
    fn what(this: &DeleteObject) -> String;
    #[wasm_bindgen(method, structural, getter)]
    fn revision(this: &DeleteObject) -> Option<f64>;
}

impl KeyObject {
    fn session_key(&self) -> Result<SessionKey, Error> {
        let [user_id, session_id] =
            [self.user_id(), self.session_id()].map(Option::unwrap_or_default);
        SessionKey::new(self.app_name(), user_id, session_id)
    }
}

impl DescribeObject {
    /// Returns the key of the session and the change.
    pub(super) fn read(&self) -> Result<(SessionKey, DescriptionChange), Error> {
        let (title, labels) = (self.title(), self.labels());
        Ok((
            self.key().session_key()?,
            DescriptionChange { title, labels, ..DescriptionChange::default() },
        ))
    }
}

impl PageObject {
    /// Returns the key of the session and what is read of its events.
    pub(super) fn read(&self) -> Result<(SessionKey, EventsRead), Error> {
        let key = self.key().session_key()?;
        if self.only_markers().unwrap_or_default() {
            return Ok((key, EventsRead::Markers(self.event_id())));
        }
        let end = match (self.direction() == "after", self.event_id()) {
            (false, None) => PageEnd::Last,
            (true, None) => PageEnd::First,
            (false, Some(id)) => PageEnd::Before(id.into()),
            (true, Some(id)) => PageEnd::After(id.into()),
        };
        let limit = self.limit().unwrap_or_default() as usize;
        let page = PageQuery { end, limit, with_count: self.with_count() };
        Ok((key, EventsRead::Of(Read::Page(page))))
    }
}

impl ListObject {
    pub(super) fn read(&self) -> Result<ListQuery, Error> {
        let app_name = self.app_name();
        check_owner(&app_name, None)?;
        let by_creation = self.order_by() == "createTime";
        let after = self.after().map(|place| {
            let time = if by_creation { place.create_time() } else { place.last_update_time() };
            let time = Timestamp::stored(time.unwrap_or_default());
            let [session_id, user_id] =
                [place.session_id(), place.user_id()].map(Option::unwrap_or_default);
            ListPlace::new(time, &session_id, &user_id)
        });
        let limit = self.limit().map(|limit| limit as usize);
        Ok(ListQuery {
            app_name,
            user_id: self.user_id(),
            order: ListOrder { by_creation, descending: self.order() == "desc" },
            after,
            offset: self.offset() as usize,
            limit,
            with_total: self.with_total(),
        })
    }
}

impl DeleteObject {
    /// Returns the deletion; `None` for an invalid session id, which names no session.
    pub(super) fn read(&self) -> Result<Option<Deletion>, Error> {
        let key = self.key();
        let (app_name, user_id) = (key.app_name(), key.user_id());
        check_owner(&app_name, user_id.as_deref())?;
        let user_id = user_id.unwrap_or_default();
        Ok(Some(match self.what().as_str() {
            "appState" => Deletion::AppState { app_name },
            "userState" => Deletion::UserState { app_name, user_id },
            "user" => Deletion::User { app_name, user_id },
            _ => {
                let Ok(key) = key.session_key() else {
                    return Ok(None);
                };
                match self.revision() {
                    Some(revision) => {
                        let (revision, labels) = (revision as Revision, self.labels());
                        Deletion::UnchangedSession { key, revision, labels }
                    }
                    None => Deletion::Session(key),
                }
            }
        }))
    }
}
