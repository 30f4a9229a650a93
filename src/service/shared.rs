//! Services behind pointers: a program that chooses its service when it runs holds an `Arc<dyn SessionService>`.

use std::sync::Arc;

use crate::core::error::Error;
use crate::core::event::Event;
use crate::core::session::SessionKey;
use crate::host::BoxFuture;
use crate::service::{
    CreateRequest, DeleteRequest, EventPage, GetRequest, ListEventsRequest, ListPage, ListRequest,
    Session, SessionPosition, SessionService,
};

macro_rules! forward_calls {
    ($pointer:ident) => {
        impl<S: SessionService + ?Sized> SessionService for $pointer<S> {
            fn create(&self, request: CreateRequest) -> BoxFuture<'_, Result<Session, Error>> {
                (**self).create(request)
            }

            fn get(&self, request: GetRequest) -> BoxFuture<'_, Result<Session, Error>> {
                (**self).get(request)
            }

            fn list(&self, request: ListRequest) -> BoxFuture<'_, Result<Vec<Session>, Error>> {
                (**self).list(request)
            }

            fn list_page(
                &self,
                request: ListRequest,
                page: ListPage,
            ) -> BoxFuture<'_, Result<Vec<Session>, Error>> {
                (**self).list_page(request, page)
            }

            fn list_app<'a>(
                &'a self,
                app_name: &'a str,
                page: ListPage,
            ) -> BoxFuture<'a, Result<Vec<Session>, Error>> {
                (**self).list_app(app_name, page)
            }

            fn list_events(
                &self,
                request: ListEventsRequest,
            ) -> BoxFuture<'_, Result<EventPage, Error>> {
                (**self).list_events(request)
            }

            fn delete(&self, request: DeleteRequest) -> BoxFuture<'_, Result<(), Error>> {
                (**self).delete(request)
            }

            fn append_event<'a>(
                &'a self,
                session_id: &'a str,
                event: Event,
            ) -> BoxFuture<'a, Result<(), Error>> {
                (**self).append_event(session_id, event)
            }

            fn append_event_to<'a>(
                &'a self,
                key: &'a SessionKey,
                event: Event,
            ) -> BoxFuture<'a, Result<(), Error>> {
                (**self).append_event_to(key, event)
            }

            fn append_events<'a>(
                &'a self,
                position: &'a mut SessionPosition,
                events: Vec<Event>,
            ) -> BoxFuture<'a, Result<(), Error>> {
                (**self).append_events(position, events)
            }

            fn new_id(&self) -> String {
                (**self).new_id()
            }
        }
    };
}

forward_calls!(Arc);
forward_calls!(Box);
