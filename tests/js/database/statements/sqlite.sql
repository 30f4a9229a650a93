-- session.merged
select cast("session"."state" as text) as "state", "session"."create_time" as "create_time", "session"."update_time" as "update_time", "side"."update_time" as "side_time", "side"."last_update_time" as "last_update_time", "side"."replaced_at" as "replaced_at", "details"."title" as "title", cast("details"."labels" as text) as "labels", cast("details"."initial_state" as text) as "initial_state", cast("app"."state" as text) as "app_state", "app"."update_time" as "app_time", cast("owner"."state" as text) as "user_state", "owner"."update_time" as "user_time", (select "recent"."timestamp"
  from "events" as recent
  where recent.app_name = session.app_name and recent.user_id = session.user_id and recent.session_id = session.id
  order by "recent"."timestamp" desc
  limit 1) as "newest", (select count(*)
  from "events" as recent
  where recent.app_name = session.app_name and recent.user_id = session.user_id and recent.session_id = session.id and "recent"."timestamp" >= session.update_time) as "later"
  from "sessions" as "session"
  left join "app_states" as "app" on "app"."app_name" = "session"."app_name"
  left join "user_states" as "owner" on "owner"."app_name" = "session"."app_name" and "owner"."user_id" = "session"."user_id"
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id
  left join "adk_session_wasm_details" as "details" on details.app_name = session.app_name and details.user_id = session.user_id and details.session_id = session.id and details.create_time = session.create_time
  where "session"."app_name" = :app and "session"."user_id" = :user and "session"."id" = :session;

-- session.app
select cast("state" as text) as "state", "update_time" as "update_time"
  from "app_states"
  where "app_name" = :app;

-- session.user
select cast("state" as text) as "state", "update_time" as "update_time"
  from "user_states"
  where "app_name" = :app and "user_id" = :user;

-- session.lockedState.app
select cast("state" as text) as "state", "update_time" as "update_time"
  from "app_states"
  where "app_name" = :app;

-- session.lockedState.user
select cast("state" as text) as "state", "update_time" as "update_time"
  from "user_states"
  where "app_name" = :app and "user_id" = :user;

-- currentRows.current([]).one
select case when "session"."id" is null then (select "metadata"."value"
  from "adk_internal_metadata" as "metadata"
  where "metadata"."key" = 'adk_session_wasm_floor') end as "floor", "event"."id", "event"."invocation_id", cast("session"."state" as text) as "state", "session"."create_time" as "create_time", "session"."update_time" as "update_time", "side"."update_time" as "side_time", "side"."last_update_time" as "last_update_time", "side"."replaced_at" as "replaced_at", cast("event"."event_data" as text) as "event_data", "event"."timestamp" as "timestamp", (select "recent"."timestamp"
  from "events" as recent
  where recent.app_name = session.app_name and recent.user_id = session.user_id and recent.session_id = session.id
  order by "recent"."timestamp" desc
  limit 1) as "newest", (select count(*)
  from "events" as recent
  where recent.app_name = session.app_name and recent.user_id = session.user_id and recent.session_id = session.id and "recent"."timestamp" >= session.update_time) as "later", null as "app_state", null as "app_time", null as "user_state", null as "user_time"
  from (select 1 as one) as "one"
  left join "sessions" as "session" on "session"."app_name" = :app and "session"."user_id" = :user and "session"."id" = :session
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id
  left join "events" as "event" on "event"."id" = :event and "event"."app_name" = "session"."app_name" and "event"."user_id" = "session"."user_id" and "event"."session_id" = "session"."id";

-- currentRows.current(["app","user"]).one
select case when "session"."id" is null or "app"."app_name" is null or "owner"."user_id" is null then (select "metadata"."value"
  from "adk_internal_metadata" as "metadata"
  where "metadata"."key" = 'adk_session_wasm_floor') end as "floor", "event"."id", "event"."invocation_id", cast("session"."state" as text) as "state", "session"."create_time" as "create_time", "session"."update_time" as "update_time", "side"."update_time" as "side_time", "side"."last_update_time" as "last_update_time", "side"."replaced_at" as "replaced_at", cast("event"."event_data" as text) as "event_data", "event"."timestamp" as "timestamp", (select "recent"."timestamp"
  from "events" as recent
  where recent.app_name = session.app_name and recent.user_id = session.user_id and recent.session_id = session.id
  order by "recent"."timestamp" desc
  limit 1) as "newest", (select count(*)
  from "events" as recent
  where recent.app_name = session.app_name and recent.user_id = session.user_id and recent.session_id = session.id and "recent"."timestamp" >= session.update_time) as "later", cast("app"."state" as text) as "app_state", "app"."update_time" as "app_time", cast("owner"."state" as text) as "user_state", "owner"."update_time" as "user_time"
  from (select 1 as one) as "one"
  left join "sessions" as "session" on "session"."app_name" = :app and "session"."user_id" = :user and "session"."id" = :session
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id
  left join "events" as "event" on "event"."id" = :event and "event"."app_name" = "session"."app_name" and "event"."user_id" = "session"."user_id" and "event"."session_id" = "session"."id"
  left join "app_states" as "app" on "app"."app_name" = :app
  left join "user_states" as "owner" on "owner"."app_name" = :app and "owner"."user_id" = :user;

-- currentRows.locks.session.one
select 1 as "locked"
  from "sessions"
  where "app_name" = :app and "user_id" = :user and "id" = :session for update;

-- currentRows.locks.freeSession.one
select 1 as "locked"
  from "sessions"
  where "app_name" = :app and "user_id" = :user and "id" = :session for update skip locked;

-- currentRows.locks.app.one
select 1 as "locked"
  from "app_states"
  where "app_name" = :app for update;

-- currentRows.locks.user.one
select 1 as "locked"
  from "user_states"
  where "app_name" = :app and "user_id" = :user for update;

-- currentRows.events(2)
select "id", cast("event_data" as text) as "event_data", "invocation_id", "timestamp" as "timestamp"
  from "events"
  where "events"."app_name" = :app and "events"."user_id" = :user and "events"."session_id" = :session and "id" in (:id0, :id1);

-- currentRows.changed.all
select "id", cast("event_data" as text) as "event_data", "invocation_id", "timestamp" as "timestamp"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session and "timestamp" >= :since
  order by rowid asc;

-- currentRows.changed.first
select "id", cast("event_data" as text) as "event_data", "invocation_id", "timestamp" as "timestamp"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session and "timestamp" >= :since
  order by rowid asc
  limit :limit;

-- currentRows.changedOrReplaced.all
select "id", cast("event_data" as text) as "event_data", "invocation_id", "timestamp" as "timestamp"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session and ("timestamp" >= :since or cast("event_data" as text) like "%\"adk_session_wasm\"%")
  order by rowid asc;

-- currentRows.changedOrReplaced.first
select "id", cast("event_data" as text) as "event_data", "invocation_id", "timestamp" as "timestamp"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session and ("timestamp" >= :since or cast("event_data" as text) like "%\"adk_session_wasm\"%")
  order by rowid asc
  limit :limit;

-- write.deleteOne.events
delete
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session;

-- write.deleteOne.sideTable
delete
  from "adk_session_wasm_sessions"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session;

-- write.deleteOne.details
delete
  from "adk_session_wasm_details"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session;

-- write.deleteOne.terms
delete
  from "adk_session_wasm_terms"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session;

-- write.deleteOne.sessions
delete
  from "sessions"
  where "app_name" = :app and "user_id" = :user and "id" = :session;

-- write.deleteAll.events
delete
  from "events"
  where "app_name" = :app and "user_id" = :user;

-- write.deleteAll.sideTable
delete
  from "adk_session_wasm_sessions"
  where "app_name" = :app and "user_id" = :user;

-- write.deleteAll.details
delete
  from "adk_session_wasm_details"
  where "app_name" = :app and "user_id" = :user;

-- write.deleteAll.terms
delete
  from "adk_session_wasm_terms"
  where "app_name" = :app and "user_id" = :user;

-- write.deleteAll.sessions
delete
  from "sessions"
  where "app_name" = :app and "user_id" = :user;

-- write.insertSession
insert into "sessions" ("app_name", "user_id", "id", "state", "create_time", "update_time")
  values (:app, :user, :session, :state, :created, :updated);

-- write.touchSession.one
update "sessions"
  set "update_time" = :updated
  where "app_name" = :app and "user_id" = :user and "id" = :session;

-- write.updateSession.one
update "sessions"
  set "state" = :state, "update_time" = :updated
  where "app_name" = :app and "user_id" = :user and "id" = :session;

-- write.insertSideTableRow
insert into "adk_session_wasm_sessions" ("app_name", "user_id", "session_id", "update_time", "last_update_time", "replaced_at")
  values (:app, :user, :session, :updated, :time, :replaced);

-- write.updateSideTableRow
update "adk_session_wasm_sessions"
  set "update_time" = :updated, "last_update_time" = :time, "replaced_at" = :replaced
  where "app_name" = :app and "user_id" = :user and "session_id" = :session;

-- write.insertNewDetails
insert into "adk_session_wasm_details" ("app_name", "user_id", "session_id", "create_time", "title", "labels", "initial_state")
  values (:app, :user, :session, :created, :title, :labels, :initial);

-- write.updateDetails
update "adk_session_wasm_details"
  set "title" = :title, "labels" = :labels
  where "app_name" = :app and "user_id" = :user and "session_id" = :session;

-- write.deleteOldDetails
delete
  from "adk_session_wasm_details"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session and "create_time" <> (select "create_time"
  from "sessions"
  where "app_name" = :app and "user_id" = :user and "id" = :session);

-- write.insertMissingDetails
insert into "adk_session_wasm_details" ("app_name", "user_id", "session_id", "create_time") select "session"."app_name", "session"."user_id", "session"."id", "session"."create_time"
  from "sessions" as "session"
  left join "adk_session_wasm_details" as "details" on details.app_name = session.app_name and details.user_id = session.user_id and details.session_id = session.id and details.create_time = session.create_time
  where "session"."app_name" = :app and "session"."user_id" = :user and "session"."id" = :session and "details"."session_id" is null;

-- write.setFirstTitle
update "adk_session_wasm_details"
  set "title" = :title
  where "app_name" = :app and "user_id" = :user and "session_id" = :session and "title" is null;

-- write.insertState.app
insert into "app_states" ("app_name", "state", "update_time")
  values (:app, :state, :updated);

-- write.insertState.user
insert into "user_states" ("app_name", "user_id", "state", "update_time")
  values (:app, :user, :state, :updated);

-- write.updateState.app
update "app_states"
  set "state" = :state, "update_time" = :updated
  where "app_name" = :app;

-- write.updateState.user
update "user_states"
  set "state" = :state, "update_time" = :updated
  where "app_name" = :app and "user_id" = :user;

-- write.insertEvents(2)
insert into "events" ("id", "app_name", "user_id", "session_id", "invocation_id", "timestamp", "event_data")
  values (:id, :app, :user, :session, :invocation, :time, :data), (:id, :app, :user, :session, :invocation, :time, :data);

-- write.deleteEventsAfter
delete
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session and "timestamp" > :after;

-- write.deleteInitialState
update "adk_session_wasm_details"
  set "initial_state" = null
  where "app_name" = :app and "user_id" = :user and "session_id" = :session;

-- write.replaceEvent
update "events"
  set "invocation_id" = :invocation, "event_data" = :data
  where "id" = :id and "events"."app_name" = :app and "events"."user_id" = :user and "events"."session_id" = :session;

-- read.pages.atEvent.before
select "id", cast("event_data" as text) as "event_data", "invocation_id", "timestamp" as "timestamp"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session and rowid < :place
  order by rowid desc
  limit :limit;

-- read.pages.atEvent.after
select "id", cast("event_data" as text) as "event_data", "invocation_id", "timestamp" as "timestamp"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session and rowid > :place
  order by rowid asc
  limit :limit;

-- read.pages.atEnd.before
select "id", cast("event_data" as text) as "event_data", "invocation_id", "timestamp" as "timestamp"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session
  order by rowid desc
  limit :limit;

-- read.pages.atEnd.after
select "id", cast("event_data" as text) as "event_data", "invocation_id", "timestamp" as "timestamp"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session
  order by rowid asc
  limit :limit;

-- read.place
select rowid as "place"
  from "events"
  where "id" = :event and "events"."app_name" = :app and "events"."user_id" = :user and "events"."session_id" = :session;

-- read.eventCount
select count(*) as "count"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session;

-- read.rows.all
select "id", cast("event_data" as text) as "event_data", "invocation_id", "timestamp" as "timestamp"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session
  order by rowid asc;

-- read.rows.last
select "id", cast("event_data" as text) as "event_data", "invocation_id", "timestamp" as "timestamp"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session
  order by rowid desc
  limit :last;

-- read.rows.since
select "id", cast("event_data" as text) as "event_data", "invocation_id", "timestamp" as "timestamp"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session and case when json_valid("event_data") and json_type("event_data", '$.timestamp') in ('integer', 'real') then json_extract("event_data", '$.timestamp') not between 0 and :seconds else 1 end
  order by rowid asc;

-- read.jsons.all
select "id", cast("event_data" as text) as "event_data"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session
  order by rowid asc;

-- read.jsons.last
select "id", cast("event_data" as text) as "event_data"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session
  order by rowid desc
  limit :last;

-- read.jsons.since
select "id", cast("event_data" as text) as "event_data"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session and case when json_valid("event_data") and json_type("event_data", '$.timestamp') in ('integer', 'real') then json_extract("event_data", '$.timestamp') not between 0 and :seconds else 1 end
  order by rowid asc;

-- list.ofUser.count
select count(*) as "rows"
  from "sessions" as "session"
  where "session"."app_name" = :app and "session"."user_id" = :user;

-- list.ofUser.countTerms
select count(*) as "entries"
  from (select "counted"."term"
  from "adk_session_wasm_terms" as "counted"
  where "counted"."app_name" = :app and "counted"."term" >= :from0 and "counted"."term" < :to0 and "counted"."user_id" = :user
  limit 5001) as "counts";

-- list.ofUser.creation.all
select "session"."user_id" as "user_id", "session"."id" as "id", cast("session"."state" as text) as "state", "session"."create_time" as "create_time", "session"."update_time" as "update_time", "side"."update_time" as "side_time", "side"."last_update_time" as "last_update_time", "details"."title" as "title", cast("details"."labels" as text) as "labels"
  from "sessions" as "session"
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id and "side"."update_time" = "session"."update_time"
  left join "adk_session_wasm_details" as "details" on details.app_name = session.app_name and details.user_id = session.user_id and details.session_id = session.id and details.create_time = session.create_time
  where "session"."app_name" = :app and "session"."user_id" = :user;

-- list.ofUser.creation.between
select "session"."user_id" as "user_id", "session"."id" as "id", cast("session"."state" as text) as "state", "session"."create_time" as "create_time", "session"."update_time" as "update_time", "side"."update_time" as "side_time", "side"."last_update_time" as "last_update_time", "details"."title" as "title", cast("details"."labels" as text) as "labels"
  from "sessions" as "session"
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id and "side"."update_time" = "session"."update_time"
  left join "adk_session_wasm_details" as "details" on details.app_name = session.app_name and details.user_id = session.user_id and details.session_id = session.id and details.create_time = session.create_time
  where "session"."app_name" = :app and "session"."user_id" = :user and "session"."create_time" >= :from and "session"."create_time" <= :to;

-- list.ofUser.creation.times([2,"desc",true,true])
select "session"."create_time" as "time"
  from "sessions" as "session"
  where "session"."app_name" = :app and "session"."user_id" = :user and "session"."create_time" < :place and "session"."create_time" >= :bound
  order by "session"."create_time" desc
  limit 2;

-- list.ofUser.sessions.all
select "session"."user_id" as "user_id", "session"."id" as "id", cast("session"."state" as text) as "state", "session"."create_time" as "create_time", "session"."update_time" as "update_time", "side"."update_time" as "side_time", "side"."last_update_time" as "last_update_time", "details"."title" as "title", cast("details"."labels" as text) as "labels"
  from "sessions" as "session"
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id and "side"."update_time" = "session"."update_time"
  left join "adk_session_wasm_details" as "details" on details.app_name = session.app_name and details.user_id = session.user_id and details.session_id = session.id and details.create_time = session.create_time
  where "session"."app_name" = :app and "session"."user_id" = :user and "side"."session_id" is null;

-- list.ofUser.sessions.between
select "session"."user_id" as "user_id", "session"."id" as "id", cast("session"."state" as text) as "state", "session"."create_time" as "create_time", "session"."update_time" as "update_time", "side"."update_time" as "side_time", "side"."last_update_time" as "last_update_time", "details"."title" as "title", cast("details"."labels" as text) as "labels"
  from "sessions" as "session"
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id and "side"."update_time" = "session"."update_time"
  left join "adk_session_wasm_details" as "details" on details.app_name = session.app_name and details.user_id = session.user_id and details.session_id = session.id and details.create_time = session.create_time
  where "session"."app_name" = :app and "session"."user_id" = :user and "side"."session_id" is null and "session"."update_time" >= :from and "session"."update_time" <= :to;

-- list.ofUser.sessions.times([2,"desc",true,true])
select "session"."update_time" as "time"
  from "sessions" as "session"
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id and "side"."update_time" = "session"."update_time"
  where "session"."app_name" = :app and "session"."user_id" = :user and "side"."session_id" is null and "session"."update_time" < :place and "session"."update_time" >= :bound
  order by "session"."update_time" desc
  limit 2;

-- list.ofUser.sideTable.all
select "session"."user_id" as "user_id", "session"."id" as "id", cast("session"."state" as text) as "state", "session"."create_time" as "create_time", "session"."update_time" as "update_time", "side"."update_time" as "side_time", "side"."last_update_time" as "last_update_time", "details"."title" as "title", cast("details"."labels" as text) as "labels"
  from "adk_session_wasm_sessions" as "side"
  left join "sessions" as "session" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id
  left join "adk_session_wasm_details" as "details" on details.app_name = session.app_name and details.user_id = session.user_id and details.session_id = session.id and details.create_time = session.create_time
  where case when session.update_time = side.update_time then true else false end and "side"."app_name" = :app and "side"."user_id" = :user;

-- list.ofUser.sideTable.between
select "session"."user_id" as "user_id", "session"."id" as "id", cast("session"."state" as text) as "state", "session"."create_time" as "create_time", "session"."update_time" as "update_time", "side"."update_time" as "side_time", "side"."last_update_time" as "last_update_time", "details"."title" as "title", cast("details"."labels" as text) as "labels"
  from "adk_session_wasm_sessions" as "side"
  left join "sessions" as "session" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id
  left join "adk_session_wasm_details" as "details" on details.app_name = session.app_name and details.user_id = session.user_id and details.session_id = session.id and details.create_time = session.create_time
  where case when session.update_time = side.update_time then true else false end and "side"."app_name" = :app and "side"."user_id" = :user and "side"."last_update_time" >= :from and "side"."last_update_time" <= :to;

-- list.ofUser.sideTable.times([2,"desc",true,true])
select "side"."last_update_time" as "time"
  from "adk_session_wasm_sessions" as "side"
  left join "sessions" as "session" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id
  where case when session.update_time = side.update_time then true else false end and "side"."app_name" = :app and "side"."user_id" = :user and "side"."last_update_time" < :place and "side"."last_update_time" >= :bound
  order by "side"."last_update_time" desc
  limit 2;

-- list.ofUser.matching.createTime(2).all
select "session"."user_id" as "user_id", "session"."id" as "id", cast("session"."state" as text) as "state", "session"."create_time" as "create_time", "session"."update_time" as "update_time", "side"."update_time" as "side_time", "side"."last_update_time" as "last_update_time", "details"."title" as "title", cast("details"."labels" as text) as "labels"
  from (select distinct "entry"."user_id", "entry"."session_id"
  from "adk_session_wasm_terms" as "entry"
  where "entry"."app_name" = :app and "entry"."term" >= :from0 and "entry"."term" < :to0 and "entry"."user_id" = :user and exists ( select 1
  from "adk_session_wasm_terms" other
  where other.app_name = entry.app_name and other.user_id = entry.user_id and other.session_id = entry.session_id and "other"."term" >= :from1 and "other"."term" < :to1)) as "matching"
  inner join "sessions" as "session" on "session"."app_name" = :app and "session"."user_id" = "matching"."user_id" and "session"."id" = "matching"."session_id"
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id and "side"."update_time" = "session"."update_time"
  left join "adk_session_wasm_details" as "details" on details.app_name = session.app_name and details.user_id = session.user_id and details.session_id = session.id and details.create_time = session.create_time;

-- list.ofUser.matching.createTime(2).between
select "session"."user_id" as "user_id", "session"."id" as "id", cast("session"."state" as text) as "state", "session"."create_time" as "create_time", "session"."update_time" as "update_time", "side"."update_time" as "side_time", "side"."last_update_time" as "last_update_time", "details"."title" as "title", cast("details"."labels" as text) as "labels"
  from (select distinct "entry"."user_id", "entry"."session_id"
  from "adk_session_wasm_terms" as "entry"
  where "entry"."app_name" = :app and "entry"."term" >= :from0 and "entry"."term" < :to0 and "entry"."user_id" = :user and exists ( select 1
  from "adk_session_wasm_terms" other
  where other.app_name = entry.app_name and other.user_id = entry.user_id and other.session_id = entry.session_id and "other"."term" >= :from1 and "other"."term" < :to1)) as "matching"
  inner join "sessions" as "session" on "session"."app_name" = :app and "session"."user_id" = "matching"."user_id" and "session"."id" = "matching"."session_id"
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id and "side"."update_time" = "session"."update_time"
  left join "adk_session_wasm_details" as "details" on details.app_name = session.app_name and details.user_id = session.user_id and details.session_id = session.id and details.create_time = session.create_time
  where "session"."create_time" >= :from and "session"."create_time" <= :to;

-- list.ofUser.matching.createTime(2).times([2,"desc",true,true])
select "session"."create_time" as "time"
  from (select distinct "entry"."user_id", "entry"."session_id"
  from "adk_session_wasm_terms" as "entry"
  where "entry"."app_name" = :app and "entry"."term" >= :from0 and "entry"."term" < :to0 and "entry"."user_id" = :user and exists ( select 1
  from "adk_session_wasm_terms" other
  where other.app_name = entry.app_name and other.user_id = entry.user_id and other.session_id = entry.session_id and "other"."term" >= :from1 and "other"."term" < :to1)) as "matching"
  inner join "sessions" as "session" on "session"."app_name" = :app and "session"."user_id" = "matching"."user_id" and "session"."id" = "matching"."session_id"
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id and "side"."update_time" = "session"."update_time"
  where "session"."create_time" < :place and "session"."create_time" >= :bound
  order by "session"."create_time" desc
  limit 2;

-- list.ofUser.matching.lastUpdateTime(2).all
select "session"."user_id" as "user_id", "session"."id" as "id", cast("session"."state" as text) as "state", "session"."create_time" as "create_time", "session"."update_time" as "update_time", "side"."update_time" as "side_time", "side"."last_update_time" as "last_update_time", "details"."title" as "title", cast("details"."labels" as text) as "labels"
  from (select distinct "entry"."user_id", "entry"."session_id"
  from "adk_session_wasm_terms" as "entry"
  where "entry"."app_name" = :app and "entry"."term" >= :from0 and "entry"."term" < :to0 and "entry"."user_id" = :user and exists ( select 1
  from "adk_session_wasm_terms" other
  where other.app_name = entry.app_name and other.user_id = entry.user_id and other.session_id = entry.session_id and "other"."term" >= :from1 and "other"."term" < :to1)) as "matching"
  inner join "sessions" as "session" on "session"."app_name" = :app and "session"."user_id" = "matching"."user_id" and "session"."id" = "matching"."session_id"
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id and "side"."update_time" = "session"."update_time"
  left join "adk_session_wasm_details" as "details" on details.app_name = session.app_name and details.user_id = session.user_id and details.session_id = session.id and details.create_time = session.create_time;

-- list.ofUser.matching.lastUpdateTime(2).between
select "session"."user_id" as "user_id", "session"."id" as "id", cast("session"."state" as text) as "state", "session"."create_time" as "create_time", "session"."update_time" as "update_time", "side"."update_time" as "side_time", "side"."last_update_time" as "last_update_time", "details"."title" as "title", cast("details"."labels" as text) as "labels"
  from (select distinct "entry"."user_id", "entry"."session_id"
  from "adk_session_wasm_terms" as "entry"
  where "entry"."app_name" = :app and "entry"."term" >= :from0 and "entry"."term" < :to0 and "entry"."user_id" = :user and exists ( select 1
  from "adk_session_wasm_terms" other
  where other.app_name = entry.app_name and other.user_id = entry.user_id and other.session_id = entry.session_id and "other"."term" >= :from1 and "other"."term" < :to1)) as "matching"
  inner join "sessions" as "session" on "session"."app_name" = :app and "session"."user_id" = "matching"."user_id" and "session"."id" = "matching"."session_id"
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id and "side"."update_time" = "session"."update_time"
  left join "adk_session_wasm_details" as "details" on details.app_name = session.app_name and details.user_id = session.user_id and details.session_id = session.id and details.create_time = session.create_time
  where coalesce(side.last_update_time, session.update_time) >= :from and coalesce(side.last_update_time, session.update_time) <= :to;

-- list.ofUser.matching.lastUpdateTime(2).times([2,"desc",true,true])
select coalesce(side.last_update_time, session.update_time) as "time"
  from (select distinct "entry"."user_id", "entry"."session_id"
  from "adk_session_wasm_terms" as "entry"
  where "entry"."app_name" = :app and "entry"."term" >= :from0 and "entry"."term" < :to0 and "entry"."user_id" = :user and exists ( select 1
  from "adk_session_wasm_terms" other
  where other.app_name = entry.app_name and other.user_id = entry.user_id and other.session_id = entry.session_id and "other"."term" >= :from1 and "other"."term" < :to1)) as "matching"
  inner join "sessions" as "session" on "session"."app_name" = :app and "session"."user_id" = "matching"."user_id" and "session"."id" = "matching"."session_id"
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id and "side"."update_time" = "session"."update_time"
  where coalesce(side.last_update_time, session.update_time) < :place and coalesce(side.last_update_time, session.update_time) >= :bound
  order by coalesce(side.last_update_time, session.update_time) desc
  limit 2;

-- list.ofAllUsers.count
select count(*) as "rows"
  from "sessions" as "session"
  where "session"."app_name" = :app;

-- list.ofAllUsers.countTerms
select count(*) as "entries"
  from (select "counted"."term"
  from "adk_session_wasm_terms" as "counted"
  where "counted"."app_name" = :app and "counted"."term" >= :from0 and "counted"."term" < :to0
  limit 5001) as "counts";

-- list.ofAllUsers.creation.all
select "session"."user_id" as "user_id", "session"."id" as "id", cast("session"."state" as text) as "state", "session"."create_time" as "create_time", "session"."update_time" as "update_time", "side"."update_time" as "side_time", "side"."last_update_time" as "last_update_time", "details"."title" as "title", cast("details"."labels" as text) as "labels"
  from "sessions" as "session"
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id and "side"."update_time" = "session"."update_time"
  left join "adk_session_wasm_details" as "details" on details.app_name = session.app_name and details.user_id = session.user_id and details.session_id = session.id and details.create_time = session.create_time
  where "session"."app_name" = :app;

-- list.ofAllUsers.creation.between
select "session"."user_id" as "user_id", "session"."id" as "id", cast("session"."state" as text) as "state", "session"."create_time" as "create_time", "session"."update_time" as "update_time", "side"."update_time" as "side_time", "side"."last_update_time" as "last_update_time", "details"."title" as "title", cast("details"."labels" as text) as "labels"
  from "sessions" as "session"
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id and "side"."update_time" = "session"."update_time"
  left join "adk_session_wasm_details" as "details" on details.app_name = session.app_name and details.user_id = session.user_id and details.session_id = session.id and details.create_time = session.create_time
  where "session"."app_name" = :app and "session"."create_time" >= :from and "session"."create_time" <= :to;

-- list.ofAllUsers.creation.times([2,"desc",true,true])
select "session"."create_time" as "time"
  from "sessions" as "session"
  where "session"."app_name" = :app and "session"."create_time" < :place and "session"."create_time" >= :bound
  order by "session"."create_time" desc
  limit 2;

-- list.ofAllUsers.sessions.all
select "session"."user_id" as "user_id", "session"."id" as "id", cast("session"."state" as text) as "state", "session"."create_time" as "create_time", "session"."update_time" as "update_time", "side"."update_time" as "side_time", "side"."last_update_time" as "last_update_time", "details"."title" as "title", cast("details"."labels" as text) as "labels"
  from "sessions" as "session"
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id and "side"."update_time" = "session"."update_time"
  left join "adk_session_wasm_details" as "details" on details.app_name = session.app_name and details.user_id = session.user_id and details.session_id = session.id and details.create_time = session.create_time
  where "session"."app_name" = :app and "side"."session_id" is null;

-- list.ofAllUsers.sessions.between
select "session"."user_id" as "user_id", "session"."id" as "id", cast("session"."state" as text) as "state", "session"."create_time" as "create_time", "session"."update_time" as "update_time", "side"."update_time" as "side_time", "side"."last_update_time" as "last_update_time", "details"."title" as "title", cast("details"."labels" as text) as "labels"
  from "sessions" as "session"
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id and "side"."update_time" = "session"."update_time"
  left join "adk_session_wasm_details" as "details" on details.app_name = session.app_name and details.user_id = session.user_id and details.session_id = session.id and details.create_time = session.create_time
  where "session"."app_name" = :app and "side"."session_id" is null and "session"."update_time" >= :from and "session"."update_time" <= :to;

-- list.ofAllUsers.sessions.times([2,"desc",true,true])
select "session"."update_time" as "time"
  from "sessions" as "session"
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id and "side"."update_time" = "session"."update_time"
  where "session"."app_name" = :app and "side"."session_id" is null and "session"."update_time" < :place and "session"."update_time" >= :bound
  order by "session"."update_time" desc
  limit 2;

-- list.ofAllUsers.sideTable.all
select "session"."user_id" as "user_id", "session"."id" as "id", cast("session"."state" as text) as "state", "session"."create_time" as "create_time", "session"."update_time" as "update_time", "side"."update_time" as "side_time", "side"."last_update_time" as "last_update_time", "details"."title" as "title", cast("details"."labels" as text) as "labels"
  from "adk_session_wasm_sessions" as "side"
  left join "sessions" as "session" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id
  left join "adk_session_wasm_details" as "details" on details.app_name = session.app_name and details.user_id = session.user_id and details.session_id = session.id and details.create_time = session.create_time
  where case when session.update_time = side.update_time then true else false end and "side"."app_name" = :app;

-- list.ofAllUsers.sideTable.between
select "session"."user_id" as "user_id", "session"."id" as "id", cast("session"."state" as text) as "state", "session"."create_time" as "create_time", "session"."update_time" as "update_time", "side"."update_time" as "side_time", "side"."last_update_time" as "last_update_time", "details"."title" as "title", cast("details"."labels" as text) as "labels"
  from "adk_session_wasm_sessions" as "side"
  left join "sessions" as "session" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id
  left join "adk_session_wasm_details" as "details" on details.app_name = session.app_name and details.user_id = session.user_id and details.session_id = session.id and details.create_time = session.create_time
  where case when session.update_time = side.update_time then true else false end and "side"."app_name" = :app and "side"."last_update_time" >= :from and "side"."last_update_time" <= :to;

-- list.ofAllUsers.sideTable.times([2,"desc",true,true])
select "side"."last_update_time" as "time"
  from "adk_session_wasm_sessions" as "side"
  left join "sessions" as "session" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id
  where case when session.update_time = side.update_time then true else false end and "side"."app_name" = :app and "side"."last_update_time" < :place and "side"."last_update_time" >= :bound
  order by "side"."last_update_time" desc
  limit 2;

-- list.ofAllUsers.matching.createTime(2).all
select "session"."user_id" as "user_id", "session"."id" as "id", cast("session"."state" as text) as "state", "session"."create_time" as "create_time", "session"."update_time" as "update_time", "side"."update_time" as "side_time", "side"."last_update_time" as "last_update_time", "details"."title" as "title", cast("details"."labels" as text) as "labels"
  from (select distinct "entry"."user_id", "entry"."session_id"
  from "adk_session_wasm_terms" as "entry"
  where "entry"."app_name" = :app and "entry"."term" >= :from0 and "entry"."term" < :to0 and exists ( select 1
  from "adk_session_wasm_terms" other
  where other.app_name = entry.app_name and other.user_id = entry.user_id and other.session_id = entry.session_id and "other"."term" >= :from1 and "other"."term" < :to1)) as "matching"
  inner join "sessions" as "session" on "session"."app_name" = :app and "session"."user_id" = "matching"."user_id" and "session"."id" = "matching"."session_id"
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id and "side"."update_time" = "session"."update_time"
  left join "adk_session_wasm_details" as "details" on details.app_name = session.app_name and details.user_id = session.user_id and details.session_id = session.id and details.create_time = session.create_time;

-- list.ofAllUsers.matching.createTime(2).between
select "session"."user_id" as "user_id", "session"."id" as "id", cast("session"."state" as text) as "state", "session"."create_time" as "create_time", "session"."update_time" as "update_time", "side"."update_time" as "side_time", "side"."last_update_time" as "last_update_time", "details"."title" as "title", cast("details"."labels" as text) as "labels"
  from (select distinct "entry"."user_id", "entry"."session_id"
  from "adk_session_wasm_terms" as "entry"
  where "entry"."app_name" = :app and "entry"."term" >= :from0 and "entry"."term" < :to0 and exists ( select 1
  from "adk_session_wasm_terms" other
  where other.app_name = entry.app_name and other.user_id = entry.user_id and other.session_id = entry.session_id and "other"."term" >= :from1 and "other"."term" < :to1)) as "matching"
  inner join "sessions" as "session" on "session"."app_name" = :app and "session"."user_id" = "matching"."user_id" and "session"."id" = "matching"."session_id"
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id and "side"."update_time" = "session"."update_time"
  left join "adk_session_wasm_details" as "details" on details.app_name = session.app_name and details.user_id = session.user_id and details.session_id = session.id and details.create_time = session.create_time
  where "session"."create_time" >= :from and "session"."create_time" <= :to;

-- list.ofAllUsers.matching.createTime(2).times([2,"desc",true,true])
select "session"."create_time" as "time"
  from (select distinct "entry"."user_id", "entry"."session_id"
  from "adk_session_wasm_terms" as "entry"
  where "entry"."app_name" = :app and "entry"."term" >= :from0 and "entry"."term" < :to0 and exists ( select 1
  from "adk_session_wasm_terms" other
  where other.app_name = entry.app_name and other.user_id = entry.user_id and other.session_id = entry.session_id and "other"."term" >= :from1 and "other"."term" < :to1)) as "matching"
  inner join "sessions" as "session" on "session"."app_name" = :app and "session"."user_id" = "matching"."user_id" and "session"."id" = "matching"."session_id"
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id and "side"."update_time" = "session"."update_time"
  where "session"."create_time" < :place and "session"."create_time" >= :bound
  order by "session"."create_time" desc
  limit 2;

-- list.ofAllUsers.matching.lastUpdateTime(2).all
select "session"."user_id" as "user_id", "session"."id" as "id", cast("session"."state" as text) as "state", "session"."create_time" as "create_time", "session"."update_time" as "update_time", "side"."update_time" as "side_time", "side"."last_update_time" as "last_update_time", "details"."title" as "title", cast("details"."labels" as text) as "labels"
  from (select distinct "entry"."user_id", "entry"."session_id"
  from "adk_session_wasm_terms" as "entry"
  where "entry"."app_name" = :app and "entry"."term" >= :from0 and "entry"."term" < :to0 and exists ( select 1
  from "adk_session_wasm_terms" other
  where other.app_name = entry.app_name and other.user_id = entry.user_id and other.session_id = entry.session_id and "other"."term" >= :from1 and "other"."term" < :to1)) as "matching"
  inner join "sessions" as "session" on "session"."app_name" = :app and "session"."user_id" = "matching"."user_id" and "session"."id" = "matching"."session_id"
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id and "side"."update_time" = "session"."update_time"
  left join "adk_session_wasm_details" as "details" on details.app_name = session.app_name and details.user_id = session.user_id and details.session_id = session.id and details.create_time = session.create_time;

-- list.ofAllUsers.matching.lastUpdateTime(2).between
select "session"."user_id" as "user_id", "session"."id" as "id", cast("session"."state" as text) as "state", "session"."create_time" as "create_time", "session"."update_time" as "update_time", "side"."update_time" as "side_time", "side"."last_update_time" as "last_update_time", "details"."title" as "title", cast("details"."labels" as text) as "labels"
  from (select distinct "entry"."user_id", "entry"."session_id"
  from "adk_session_wasm_terms" as "entry"
  where "entry"."app_name" = :app and "entry"."term" >= :from0 and "entry"."term" < :to0 and exists ( select 1
  from "adk_session_wasm_terms" other
  where other.app_name = entry.app_name and other.user_id = entry.user_id and other.session_id = entry.session_id and "other"."term" >= :from1 and "other"."term" < :to1)) as "matching"
  inner join "sessions" as "session" on "session"."app_name" = :app and "session"."user_id" = "matching"."user_id" and "session"."id" = "matching"."session_id"
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id and "side"."update_time" = "session"."update_time"
  left join "adk_session_wasm_details" as "details" on details.app_name = session.app_name and details.user_id = session.user_id and details.session_id = session.id and details.create_time = session.create_time
  where coalesce(side.last_update_time, session.update_time) >= :from and coalesce(side.last_update_time, session.update_time) <= :to;

-- list.ofAllUsers.matching.lastUpdateTime(2).times([2,"desc",true,true])
select coalesce(side.last_update_time, session.update_time) as "time"
  from (select distinct "entry"."user_id", "entry"."session_id"
  from "adk_session_wasm_terms" as "entry"
  where "entry"."app_name" = :app and "entry"."term" >= :from0 and "entry"."term" < :to0 and exists ( select 1
  from "adk_session_wasm_terms" other
  where other.app_name = entry.app_name and other.user_id = entry.user_id and other.session_id = entry.session_id and "other"."term" >= :from1 and "other"."term" < :to1)) as "matching"
  inner join "sessions" as "session" on "session"."app_name" = :app and "session"."user_id" = "matching"."user_id" and "session"."id" = "matching"."session_id"
  left join "adk_session_wasm_sessions" as "side" on side.app_name = session.app_name and side.user_id = session.user_id and side.session_id = session.id and "side"."update_time" = "session"."update_time"
  where coalesce(side.last_update_time, session.update_time) < :place and coalesce(side.last_update_time, session.update_time) >= :bound
  order by coalesce(side.last_update_time, session.update_time) desc
  limit 2;

-- list.users(2)
select "user_id", cast("state" as text) as "state", "update_time" as "update_time"
  from "user_states"
  where "app_name" = :app and "user_id" in (:user0, :user1);

-- describe.details
select "details"."session_id" as "details", "details"."title" as "title", cast("details"."labels" as text) as "labels"
  from "sessions" as "session"
  left join "adk_session_wasm_details" as "details" on details.app_name = session.app_name and details.user_id = session.user_id and details.session_id = session.id and details.create_time = session.create_time
  where "session"."app_name" = :app and "session"."user_id" = :user and "session"."id" = :session;

-- terms.insertTerms(2)
insert into "adk_session_wasm_terms" ("app_name", "user_id", "session_id", "term")
  values (:app, :user, :session, :term), (:app, :user, :session, :term) on conflict do nothing;

-- terms.setTermsComplete
insert into "adk_internal_metadata" ("key", "value")
  values ("adk_session_wasm_terms", "complete") on conflict do nothing;

-- terms.described
select "app_name" as "app", "user_id" as "user", "session_id" as "session"
  from "adk_session_wasm_details"
  where ("title" is not null or "labels" is not null) and (app_name, user_id, session_id) > (:app, :user, :session)
  order by "app_name", "user_id", "session_id"
  limit :most;

-- delete.timesOfOne
select "session"."update_time" as "update_time", (select "side"."update_time" as "side_time"
  from "adk_session_wasm_sessions" as "side"
  where "side"."app_name" = "session"."app_name" and "side"."user_id" = "session"."user_id" and "side"."session_id" = "session"."id") as "side_time", (select "recent"."timestamp"
  from "events" as recent
  where recent.app_name = session.app_name and recent.user_id = session.user_id and recent.session_id = session.id
  order by "recent"."timestamp" desc
  limit 1) as "newest", (select count(*)
  from "events" as recent
  where recent.app_name = session.app_name and recent.user_id = session.user_id and recent.session_id = session.id and "recent"."timestamp" >= session.update_time) as "later"
  from "sessions" as "session"
  where "session"."app_name" = :app and "session"."user_id" = :user and "session"."id" = :session;

-- delete.timesOfAll
select "session"."update_time" as "update_time", (select "side"."update_time" as "side_time"
  from "adk_session_wasm_sessions" as "side"
  where "side"."app_name" = "session"."app_name" and "side"."user_id" = "session"."user_id" and "side"."session_id" = "session"."id") as "side_time", (select "recent"."timestamp"
  from "events" as recent
  where recent.app_name = session.app_name and recent.user_id = session.user_id and recent.session_id = session.id
  order by "recent"."timestamp" desc
  limit 1) as "newest", (select count(*)
  from "events" as recent
  where recent.app_name = session.app_name and recent.user_id = session.user_id and recent.session_id = session.id and "recent"."timestamp" >= session.update_time) as "later"
  from "sessions" as "session"
  where "session"."app_name" = :app and "session"."user_id" = :user;

-- delete.deleteUser
delete
  from "user_states"
  where "app_name" = :app and "user_id" = :user;

-- delete.floor
select "metadata"."value"
  from "adk_internal_metadata" as "metadata"
  where "metadata"."key" = 'adk_session_wasm_floor';

-- delete.raiseFloor
update "adk_internal_metadata"
  set "value" = :floor
  where "key" = "adk_session_wasm_floor" and "value" < :floor;
