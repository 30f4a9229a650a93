//! Services behind pointers: a program that chooses its service when it runs holds an `Arc<dyn SessionService>`.

use std::sync::Arc;

use crate::core::event::Event;
use crate::core::session::SessionKey;
use crate::core::storage::forward_to_pointers;
use crate::service::{
    CreateRequest, DeleteRequest, EventPage, GetRequest, ListEventsRequest, ListPage, ListRequest,
    Session, SessionPosition, SessionService,
};

forward_to_pointers!(SessionService {
    [new_id() -> String];
    create<'a>(request: CreateRequest) -> Session;
    get<'a>(request: GetRequest) -> Session;
    list<'a>(request: ListRequest) -> Vec<Session>;
    list_page<'a>(request: ListRequest, page: ListPage) -> Vec<Session>;
    list_app<'a>(app_name: &'a str, page: ListPage) -> Vec<Session>;
    list_events<'a>(request: ListEventsRequest) -> EventPage;
    delete<'a>(request: DeleteRequest) -> ();
    append_event<'a>(session_id: &'a str, event: Event) -> ();
    append_event_to<'a>(key: &'a SessionKey, event: Event) -> ();
    append_events<'a>(position: &'a mut SessionPosition, events: Vec<Event>) -> ();
});
