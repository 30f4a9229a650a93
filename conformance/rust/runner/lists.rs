//! The ops that list: sessions, events, and the changes since a handle was read.

use serde_json::{Value, json};

use crate::conformance::case::Call;
use crate::conformance::expect::Kind;
use crate::conformance::handle::{Handle, parse_events};
use crate::conformance::request::Request;
use crate::conformance::runner::Runner;
use crate::conformance::stop::Stop;
use crate::core::event::Event;
use crate::core::read::{ListOrder, ListPlace, ListQuery, PageEnd};
use crate::core::storage::Storage;
use crate::core::write::{Appended, EventRow};
use crate::service::text_service::{EventCursor, ReadSession};
use crate::service::{SessionChanges, StoredEvent, StoredEvents};

impl<S: Storage> Runner<S> {
    pub(super) async fn list(&self, call: &Call) -> Result<(Kind, Value), Stop> {
        let with = Request(&call.with);
        let after = match with.text("cursor", None) {
            Some(page) => {
                let places = self.places.borrow();
                let missing = || Stop::Broken(format!("page {page:?} has no cursor"));
                Some(places.get(&page).cloned().ok_or_else(missing)?)
            }
            None => None,
        };
        let limit = with.count("limit");
        let skipped = with.count("page").map_or(0, |page| page - 1);
        let offset = skipped * limit.unwrap_or_default();
        let is = |name, text| with.0.get(name).and_then(Value::as_str) == Some(text);
        let by_creation = is("orderBy", "createTime");
        let order = ListOrder { by_creation, descending: is("order", "desc") };
        let (app_name, user_id) = (with.app_name()?, with.text("userId", None));
        let request =
            ListQuery { app_name, user_id, order, after, offset, limit, with_total: true };
        let (sessions, total) = self.service.texts.list_sessions(request).await?;
        // The Rust API returns no numbers of pages. The cases name those that TypeScript returns.
        let (number, size, pages) = match limit {
            None => (1, total, total.min(1)),
            Some(0) => (1, 0, 0),
            Some(limit) => (offset / limit + 1, limit, total.div_ceil(limit)),
        };
        let is_full = sessions.len() == limit.unwrap_or_default();
        let last = sessions.last().filter(|_| is_full).map(|ReadSession { key, head, .. }| {
            let time = if by_creation { head.create_time } else { head.last_update_time };
            ListPlace::new(time, &key.session_id, &key.user_id)
        });
        let has_next = last.is_some();
        if let Some((name, place)) = call.keep_as.clone().zip(last) {
            self.places.borrow_mut().insert(name, place);
        }
        let sessions: Result<Vec<Value>, Stop> =
            sessions.into_iter().map(|session| Ok(Handle::of(session)?.to_json())).collect();
        let page = json!({
            "sessions": sessions?,
            "page": number,
            "limit": size,
            "totalItems": total,
            "totalPages": pages,
            "nextCursor": has_next,
        });
        Ok((Kind::Page, page))
    }

    pub(super) async fn list_events(&self, call: &Call) -> Result<(Kind, Value), Stop> {
        let with = Request(&call.with);
        let cursor = |name| -> Result<Option<EventCursor>, Stop> {
            let Some(page) = with.text(name, None) else { return Ok(None) };
            let pages = self.pages.borrow();
            let [before, after] = pages.get(&page).cloned().unwrap_or_default();
            let cursor = if name == "before" { before } else { after };
            let missing = || Stop::Broken(format!("page {page:?} has no cursor {name:?}"));
            cursor.ok_or_else(missing).map(Some)
        };
        let end = match (cursor("before")?, cursor("after")?) {
            (Some(cursor), _) => PageEnd::Before(cursor),
            (None, Some(cursor)) => PageEnd::After(cursor),
            (None, None) => PageEnd::Last,
        };
        let limit = with.count("limit");
        let page = self.service.texts.get_events(with.key()?, end, limit, true).await?;
        let mut result = json!({"before": page.before.is_some(), "after": page.after.is_some()});
        if let (Value::Object(result), Some(count)) = (&mut result, page.event_count) {
            result.insert("eventCount".to_owned(), count.into());
        }
        let cursors = [page.before, page.after];
        if let Some(name) = &call.keep_as {
            self.pages.borrow_mut().insert(name.clone(), cursors);
        }
        if let Value::Object(result) = &mut result {
            result.insert("events".to_owned(), parse_events(&page.events)?.into());
        }
        Ok((Kind::Session, result))
    }

    /// Reads all events page by page, in one direction.
    pub(super) async fn walk(&self, with: Request<'_>) -> Result<(Kind, Value), Stop> {
        let is_descending = with.text("order", None).as_deref() == Some("desc");
        let limit = with.count("limit");
        let mut end = if is_descending { PageEnd::Last } else { PageEnd::First };
        let mut events = Vec::new();
        loop {
            let page = self.service.texts.get_events(with.key()?, end, limit, false).await?;
            let is_empty = page.events.is_empty();
            let mut found = parse_events(&page.events)?;
            if is_descending {
                found.reverse();
            }
            events.append(&mut found);
            end = match if is_descending { page.before } else { page.after } {
                Some(cursor) if is_descending => PageEnd::Before(cursor),
                Some(cursor) if !is_empty => PageEnd::After(cursor),
                _ => return Ok((Kind::Session, json!({"events": events}))),
            };
        }
    }

    /// Reads events by their ids.
    pub(super) async fn get_events(&self, with: Request<'_>) -> Result<(Kind, Value), Stop> {
        let ids = with.texts("eventIds");
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let StoredEvents { head, events } = self.service.get_events(&with.key()?, &ids).await?;
        let is_current = events.iter().any(|event| event.revision == head.revision);
        let are_replaced = events.iter().map(|event| event.revision > event.seq);
        let are_replaced: Vec<bool> = are_replaced.collect();
        let events: Vec<Event> = events.into_iter().map(|stored| stored.event).collect();
        let found = json!({
            "events": events,
            "isCurrent": is_current,
            "areReplaced": are_replaced,
        });
        Ok((Kind::Session, found))
    }

    /// Lists what a handle lacks. The result is a copy of the handle with these changes.
    pub(super) async fn list_changes(&self, call: &Call) -> Result<(Kind, Value), Stop> {
        let name = call.handle.as_deref().unwrap_or_default();
        let mut current = self.copy_of(name).await?;
        let missing = || Stop::Broken(format!("the handle {name:?} has no revision"));
        let since = current.revision().ok_or_else(missing)?;
        let SessionChanges { head, changes } =
            self.service.list_changes(&current.key, since).await?;
        let is_complete = changes.is_some();
        if let Some((events, state)) = changes {
            let missed = events.into_iter().map(|StoredEvent { seq, revision, event }| EventRow {
                id: event.id.as_str().into(),
                seq,
                revision,
                timestamp: event.timestamp,
                text: json!(event).to_string().into(),
            });
            let state = Some(Value::Object(state).to_string());
            let (unchanged, stored_at, shared) = Default::default();
            let missed = missed.collect();
            let appended =
                Appended { head, unchanged, stored_at, missed, state, since: Some(since), shared };
            current.receive(appended, &[])?;
        }
        let mut session = current.to_json();
        if let Value::Object(members) = &mut session {
            members.insert("isComplete".into(), is_complete.into());
        }
        Ok((Kind::Session, session))
    }
}
