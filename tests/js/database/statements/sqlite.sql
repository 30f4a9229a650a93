-- session.merged
select "s"."state" as "state", "s"."create_time" as "create_time", "s"."update_time" as "update_time", "k"."update_time" as "side_time", "k"."last_update_time" as "last_update_time", "k"."replaced_at" as "replaced_at", "d"."title" as "title", "d"."labels" as "labels", "d"."initial_state" as "initial_state", "a"."state" as "app_state", "a"."update_time" as "app_time", "u"."state" as "user_state", "u"."update_time" as "user_time", (select "n"."timestamp"
  from "events" as n
  where n.app_name = s.app_name and n.user_id = s.user_id and n.session_id = s.id
  order by "n"."timestamp" desc
  limit 1) as "newest", (select count(*)
  from "events" as n
  where n.app_name = s.app_name and n.user_id = s.user_id and n.session_id = s.id and "n"."timestamp" >= s.update_time) as "later"
  from "sessions" as "s"
  left join "app_states" as "a" on "a"."app_name" = "s"."app_name"
  left join "user_states" as "u" on "u"."app_name" = "s"."app_name" and "u"."user_id" = "s"."user_id"
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id
  left join "adk_session_wasm_details" as "d" on d.app_name = s.app_name and d.user_id = s.user_id and d.session_id = s.id and d.create_time = s.create_time
  where "s"."app_name" = :app and "s"."user_id" = :user and "s"."id" = :session;

-- session.app
select "state" as "state", "update_time" as "update_time"
  from "app_states"
  where "app_name" = :app;

-- session.user
select "state" as "state", "update_time" as "update_time"
  from "user_states"
  where "app_name" = :app and "user_id" = :user;

-- session.lockedState.app
select "state" as "state", "update_time" as "update_time"
  from "app_states"
  where "app_name" = :app;

-- session.lockedState.user
select "state" as "state", "update_time" as "update_time"
  from "user_states"
  where "app_name" = :app and "user_id" = :user;

-- currentRows.current([]).one
select case when "s"."id" is null then (select "f"."value"
  from "adk_internal_metadata" as "f"
  where "f"."key" = 'adk_session_wasm_floor') end as "floor", "e"."id", "e"."invocation_id", "s"."state" as "state", "s"."create_time" as "create_time", "s"."update_time" as "update_time", "k"."update_time" as "side_time", "k"."last_update_time" as "last_update_time", "k"."replaced_at" as "replaced_at", "e"."event_data" as "event_data", "e"."timestamp" as "timestamp", (select "n"."timestamp"
  from "events" as n
  where n.app_name = s.app_name and n.user_id = s.user_id and n.session_id = s.id
  order by "n"."timestamp" desc
  limit 1) as "newest", (select count(*)
  from "events" as n
  where n.app_name = s.app_name and n.user_id = s.user_id and n.session_id = s.id and "n"."timestamp" >= s.update_time) as "later", null as "app_state", null as "app_time", null as "user_state", null as "user_time"
  from (select 1 as one) as "one"
  left join "sessions" as "s" on "s"."app_name" = :app and "s"."user_id" = :user and "s"."id" = :session
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id
  left join "events" as "e" on "e"."id" = :event and "e"."app_name" = "s"."app_name" and "e"."user_id" = "s"."user_id" and "e"."session_id" = "s"."id";

-- currentRows.current(["app","user"]).one
select case when "s"."id" is null or "a"."app_name" is null or "u"."user_id" is null then (select "f"."value"
  from "adk_internal_metadata" as "f"
  where "f"."key" = 'adk_session_wasm_floor') end as "floor", "e"."id", "e"."invocation_id", "s"."state" as "state", "s"."create_time" as "create_time", "s"."update_time" as "update_time", "k"."update_time" as "side_time", "k"."last_update_time" as "last_update_time", "k"."replaced_at" as "replaced_at", "e"."event_data" as "event_data", "e"."timestamp" as "timestamp", (select "n"."timestamp"
  from "events" as n
  where n.app_name = s.app_name and n.user_id = s.user_id and n.session_id = s.id
  order by "n"."timestamp" desc
  limit 1) as "newest", (select count(*)
  from "events" as n
  where n.app_name = s.app_name and n.user_id = s.user_id and n.session_id = s.id and "n"."timestamp" >= s.update_time) as "later", "a"."state" as "app_state", "a"."update_time" as "app_time", "u"."state" as "user_state", "u"."update_time" as "user_time"
  from (select 1 as one) as "one"
  left join "sessions" as "s" on "s"."app_name" = :app and "s"."user_id" = :user and "s"."id" = :session
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id
  left join "events" as "e" on "e"."id" = :event and "e"."app_name" = "s"."app_name" and "e"."user_id" = "s"."user_id" and "e"."session_id" = "s"."id"
  left join "app_states" as "a" on "a"."app_name" = :app
  left join "user_states" as "u" on "u"."app_name" = :app and "u"."user_id" = :user;

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
select "id", "event_data" as "event_data", "invocation_id", "timestamp" as "timestamp"
  from "events"
  where "events"."app_name" = :app and "events"."user_id" = :user and "events"."session_id" = :session and "id" in (:id0, :id1);

-- currentRows.changed.all
select "id", "event_data" as "event_data", "invocation_id", "timestamp" as "timestamp"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session and "timestamp" >= :since
  order by rowid asc;

-- currentRows.changed.first
select "id", "event_data" as "event_data", "invocation_id", "timestamp" as "timestamp"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session and "timestamp" >= :since
  order by rowid asc
  limit :limit;

-- currentRows.changedOrReplaced.all
select "id", "event_data" as "event_data", "invocation_id", "timestamp" as "timestamp"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session and ("timestamp" >= :since or "event_data" like "%\"adk_session_wasm\"%")
  order by rowid asc;

-- currentRows.changedOrReplaced.first
select "id", "event_data" as "event_data", "invocation_id", "timestamp" as "timestamp"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session and ("timestamp" >= :since or "event_data" like "%\"adk_session_wasm\"%")
  order by rowid asc
  limit :limit;

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

-- write.deleteSideTableRow
delete
  from "adk_session_wasm_sessions"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session;

-- write.deleteDetails
delete
  from "adk_session_wasm_details"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session;

-- write.insertNewDetails
insert or replace into "adk_session_wasm_details" ("app_name", "user_id", "session_id", "create_time", "title", "labels", "initial_state")
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
insert into "adk_session_wasm_details" ("app_name", "user_id", "session_id", "create_time") select "s"."app_name", "s"."user_id", "s"."id", "s"."create_time"
  from "sessions" as "s"
  left join "adk_session_wasm_details" as "d" on d.app_name = s.app_name and d.user_id = s.user_id and d.session_id = s.id and d.create_time = s.create_time
  where "s"."app_name" = :app and "s"."user_id" = :user and "s"."id" = :session and "d"."session_id" is null;

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
select "id", "event_data" as "event_data", "invocation_id", "timestamp" as "timestamp"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session and rowid < :place
  order by rowid desc
  limit :limit;

-- read.pages.atEvent.after
select "id", "event_data" as "event_data", "invocation_id", "timestamp" as "timestamp"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session and rowid > :place
  order by rowid asc
  limit :limit;

-- read.pages.atEnd.before
select "id", "event_data" as "event_data", "invocation_id", "timestamp" as "timestamp"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session
  order by rowid desc
  limit :limit;

-- read.pages.atEnd.after
select "id", "event_data" as "event_data", "invocation_id", "timestamp" as "timestamp"
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
select "id", "event_data" as "event_data", "invocation_id", "timestamp" as "timestamp"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session
  order by rowid asc;

-- read.rows.last
select "id", "event_data" as "event_data", "invocation_id", "timestamp" as "timestamp"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session
  order by rowid desc
  limit :last;

-- read.rows.since
select "id", "event_data" as "event_data", "invocation_id", "timestamp" as "timestamp"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session and case when json_valid("event_data") and json_type("event_data", '$.timestamp') in ('integer', 'real') then json_extract("event_data", '$.timestamp') not between 0 and :seconds else 1 end
  order by rowid asc;

-- read.jsons.all
select "id", "event_data" as "event_data"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session
  order by rowid asc;

-- read.jsons.last
select "id", "event_data" as "event_data"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session
  order by rowid desc
  limit :last;

-- read.jsons.since
select "id", "event_data" as "event_data"
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session and case when json_valid("event_data") and json_type("event_data", '$.timestamp') in ('integer', 'real') then json_extract("event_data", '$.timestamp') not between 0 and :seconds else 1 end
  order by rowid asc;

-- list.ofUser.count
select count(*) as "rows"
  from "sessions" as "s"
  where "s"."app_name" = :app and "s"."user_id" = :user;

-- list.ofUser.countTerms
select count(*) as "entries"
  from (select "c"."term"
  from "adk_session_wasm_terms" as "c"
  where "c"."app_name" = :app and "c"."term" >= :from0 and "c"."term" < :to0 and "c"."user_id" = :user
  limit 5001) as "n";

-- list.ofUser.creation.all
select "s"."user_id" as "user_id", "s"."id" as "id", "s"."state" as "state", "s"."create_time" as "create_time", "s"."update_time" as "update_time", "k"."update_time" as "side_time", "k"."last_update_time" as "last_update_time", "d"."title" as "title", "d"."labels" as "labels"
  from "sessions" as "s"
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id and "k"."update_time" = "s"."update_time"
  left join "adk_session_wasm_details" as "d" on d.app_name = s.app_name and d.user_id = s.user_id and d.session_id = s.id and d.create_time = s.create_time
  where "s"."app_name" = :app and "s"."user_id" = :user;

-- list.ofUser.creation.between
select "s"."user_id" as "user_id", "s"."id" as "id", "s"."state" as "state", "s"."create_time" as "create_time", "s"."update_time" as "update_time", "k"."update_time" as "side_time", "k"."last_update_time" as "last_update_time", "d"."title" as "title", "d"."labels" as "labels"
  from "sessions" as "s"
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id and "k"."update_time" = "s"."update_time"
  left join "adk_session_wasm_details" as "d" on d.app_name = s.app_name and d.user_id = s.user_id and d.session_id = s.id and d.create_time = s.create_time
  where "s"."app_name" = :app and "s"."user_id" = :user and "s"."create_time" >= :from and "s"."create_time" <= :to;

-- list.ofUser.creation.times([2,"desc",true,true])
select "s"."create_time" as "time"
  from "sessions" as "s"
  where "s"."app_name" = :app and "s"."user_id" = :user and "s"."create_time" < :place and "s"."create_time" >= :bound
  order by "s"."create_time" desc
  limit 2;

-- list.ofUser.sessions.all
select "s"."user_id" as "user_id", "s"."id" as "id", "s"."state" as "state", "s"."create_time" as "create_time", "s"."update_time" as "update_time", "k"."update_time" as "side_time", "k"."last_update_time" as "last_update_time", "d"."title" as "title", "d"."labels" as "labels"
  from "sessions" as "s"
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id and "k"."update_time" = "s"."update_time"
  left join "adk_session_wasm_details" as "d" on d.app_name = s.app_name and d.user_id = s.user_id and d.session_id = s.id and d.create_time = s.create_time
  where "s"."app_name" = :app and "s"."user_id" = :user and "k"."session_id" is null;

-- list.ofUser.sessions.between
select "s"."user_id" as "user_id", "s"."id" as "id", "s"."state" as "state", "s"."create_time" as "create_time", "s"."update_time" as "update_time", "k"."update_time" as "side_time", "k"."last_update_time" as "last_update_time", "d"."title" as "title", "d"."labels" as "labels"
  from "sessions" as "s"
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id and "k"."update_time" = "s"."update_time"
  left join "adk_session_wasm_details" as "d" on d.app_name = s.app_name and d.user_id = s.user_id and d.session_id = s.id and d.create_time = s.create_time
  where "s"."app_name" = :app and "s"."user_id" = :user and "k"."session_id" is null and "s"."update_time" >= :from and "s"."update_time" <= :to;

-- list.ofUser.sessions.times([2,"desc",true,true])
select "s"."update_time" as "time"
  from "sessions" as "s"
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id and "k"."update_time" = "s"."update_time"
  where "s"."app_name" = :app and "s"."user_id" = :user and "k"."session_id" is null and "s"."update_time" < :place and "s"."update_time" >= :bound
  order by "s"."update_time" desc
  limit 2;

-- list.ofUser.sideTable.all
select "s"."user_id" as "user_id", "s"."id" as "id", "s"."state" as "state", "s"."create_time" as "create_time", "s"."update_time" as "update_time", "k"."update_time" as "side_time", "k"."last_update_time" as "last_update_time", "d"."title" as "title", "d"."labels" as "labels"
  from "adk_session_wasm_sessions" as "k"
  left join "sessions" as "s" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id
  left join "adk_session_wasm_details" as "d" on d.app_name = s.app_name and d.user_id = s.user_id and d.session_id = s.id and d.create_time = s.create_time
  where case when s.update_time = k.update_time then true else false end and "k"."app_name" = :app and "k"."user_id" = :user;

-- list.ofUser.sideTable.between
select "s"."user_id" as "user_id", "s"."id" as "id", "s"."state" as "state", "s"."create_time" as "create_time", "s"."update_time" as "update_time", "k"."update_time" as "side_time", "k"."last_update_time" as "last_update_time", "d"."title" as "title", "d"."labels" as "labels"
  from "adk_session_wasm_sessions" as "k"
  left join "sessions" as "s" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id
  left join "adk_session_wasm_details" as "d" on d.app_name = s.app_name and d.user_id = s.user_id and d.session_id = s.id and d.create_time = s.create_time
  where case when s.update_time = k.update_time then true else false end and "k"."app_name" = :app and "k"."user_id" = :user and "k"."last_update_time" >= :from and "k"."last_update_time" <= :to;

-- list.ofUser.sideTable.times([2,"desc",true,true])
select "k"."last_update_time" as "time"
  from "adk_session_wasm_sessions" as "k"
  left join "sessions" as "s" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id
  where case when s.update_time = k.update_time then true else false end and "k"."app_name" = :app and "k"."user_id" = :user and "k"."last_update_time" < :place and "k"."last_update_time" >= :bound
  order by "k"."last_update_time" desc
  limit 2;

-- list.ofUser.matching.createTime(2).all
select "s"."user_id" as "user_id", "s"."id" as "id", "s"."state" as "state", "s"."create_time" as "create_time", "s"."update_time" as "update_time", "k"."update_time" as "side_time", "k"."last_update_time" as "last_update_time", "d"."title" as "title", "d"."labels" as "labels"
  from (select distinct "t"."user_id", "t"."session_id"
  from "adk_session_wasm_terms" as "t"
  where "t"."app_name" = :app and "t"."term" >= :from0 and "t"."term" < :to0 and "t"."user_id" = :user and exists ( select 1
  from "adk_session_wasm_terms" o
  where o.app_name = t.app_name and o.user_id = t.user_id and o.session_id = t.session_id and "o"."term" >= :from1 and "o"."term" < :to1)) as "m"
  inner join "sessions" as "s" on "s"."app_name" = :app and "s"."user_id" = "m"."user_id" and "s"."id" = "m"."session_id"
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id and "k"."update_time" = "s"."update_time"
  left join "adk_session_wasm_details" as "d" on d.app_name = s.app_name and d.user_id = s.user_id and d.session_id = s.id and d.create_time = s.create_time;

-- list.ofUser.matching.createTime(2).between
select "s"."user_id" as "user_id", "s"."id" as "id", "s"."state" as "state", "s"."create_time" as "create_time", "s"."update_time" as "update_time", "k"."update_time" as "side_time", "k"."last_update_time" as "last_update_time", "d"."title" as "title", "d"."labels" as "labels"
  from (select distinct "t"."user_id", "t"."session_id"
  from "adk_session_wasm_terms" as "t"
  where "t"."app_name" = :app and "t"."term" >= :from0 and "t"."term" < :to0 and "t"."user_id" = :user and exists ( select 1
  from "adk_session_wasm_terms" o
  where o.app_name = t.app_name and o.user_id = t.user_id and o.session_id = t.session_id and "o"."term" >= :from1 and "o"."term" < :to1)) as "m"
  inner join "sessions" as "s" on "s"."app_name" = :app and "s"."user_id" = "m"."user_id" and "s"."id" = "m"."session_id"
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id and "k"."update_time" = "s"."update_time"
  left join "adk_session_wasm_details" as "d" on d.app_name = s.app_name and d.user_id = s.user_id and d.session_id = s.id and d.create_time = s.create_time
  where "s"."create_time" >= :from and "s"."create_time" <= :to;

-- list.ofUser.matching.createTime(2).times([2,"desc",true,true])
select "s"."create_time" as "time"
  from (select distinct "t"."user_id", "t"."session_id"
  from "adk_session_wasm_terms" as "t"
  where "t"."app_name" = :app and "t"."term" >= :from0 and "t"."term" < :to0 and "t"."user_id" = :user and exists ( select 1
  from "adk_session_wasm_terms" o
  where o.app_name = t.app_name and o.user_id = t.user_id and o.session_id = t.session_id and "o"."term" >= :from1 and "o"."term" < :to1)) as "m"
  inner join "sessions" as "s" on "s"."app_name" = :app and "s"."user_id" = "m"."user_id" and "s"."id" = "m"."session_id"
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id and "k"."update_time" = "s"."update_time"
  where "s"."create_time" < :place and "s"."create_time" >= :bound
  order by "s"."create_time" desc
  limit 2;

-- list.ofUser.matching.lastUpdateTime(2).all
select "s"."user_id" as "user_id", "s"."id" as "id", "s"."state" as "state", "s"."create_time" as "create_time", "s"."update_time" as "update_time", "k"."update_time" as "side_time", "k"."last_update_time" as "last_update_time", "d"."title" as "title", "d"."labels" as "labels"
  from (select distinct "t"."user_id", "t"."session_id"
  from "adk_session_wasm_terms" as "t"
  where "t"."app_name" = :app and "t"."term" >= :from0 and "t"."term" < :to0 and "t"."user_id" = :user and exists ( select 1
  from "adk_session_wasm_terms" o
  where o.app_name = t.app_name and o.user_id = t.user_id and o.session_id = t.session_id and "o"."term" >= :from1 and "o"."term" < :to1)) as "m"
  inner join "sessions" as "s" on "s"."app_name" = :app and "s"."user_id" = "m"."user_id" and "s"."id" = "m"."session_id"
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id and "k"."update_time" = "s"."update_time"
  left join "adk_session_wasm_details" as "d" on d.app_name = s.app_name and d.user_id = s.user_id and d.session_id = s.id and d.create_time = s.create_time;

-- list.ofUser.matching.lastUpdateTime(2).between
select "s"."user_id" as "user_id", "s"."id" as "id", "s"."state" as "state", "s"."create_time" as "create_time", "s"."update_time" as "update_time", "k"."update_time" as "side_time", "k"."last_update_time" as "last_update_time", "d"."title" as "title", "d"."labels" as "labels"
  from (select distinct "t"."user_id", "t"."session_id"
  from "adk_session_wasm_terms" as "t"
  where "t"."app_name" = :app and "t"."term" >= :from0 and "t"."term" < :to0 and "t"."user_id" = :user and exists ( select 1
  from "adk_session_wasm_terms" o
  where o.app_name = t.app_name and o.user_id = t.user_id and o.session_id = t.session_id and "o"."term" >= :from1 and "o"."term" < :to1)) as "m"
  inner join "sessions" as "s" on "s"."app_name" = :app and "s"."user_id" = "m"."user_id" and "s"."id" = "m"."session_id"
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id and "k"."update_time" = "s"."update_time"
  left join "adk_session_wasm_details" as "d" on d.app_name = s.app_name and d.user_id = s.user_id and d.session_id = s.id and d.create_time = s.create_time
  where coalesce(k.last_update_time, s.update_time) >= :from and coalesce(k.last_update_time, s.update_time) <= :to;

-- list.ofUser.matching.lastUpdateTime(2).times([2,"desc",true,true])
select coalesce(k.last_update_time, s.update_time) as "time"
  from (select distinct "t"."user_id", "t"."session_id"
  from "adk_session_wasm_terms" as "t"
  where "t"."app_name" = :app and "t"."term" >= :from0 and "t"."term" < :to0 and "t"."user_id" = :user and exists ( select 1
  from "adk_session_wasm_terms" o
  where o.app_name = t.app_name and o.user_id = t.user_id and o.session_id = t.session_id and "o"."term" >= :from1 and "o"."term" < :to1)) as "m"
  inner join "sessions" as "s" on "s"."app_name" = :app and "s"."user_id" = "m"."user_id" and "s"."id" = "m"."session_id"
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id and "k"."update_time" = "s"."update_time"
  where coalesce(k.last_update_time, s.update_time) < :place and coalesce(k.last_update_time, s.update_time) >= :bound
  order by coalesce(k.last_update_time, s.update_time) desc
  limit 2;

-- list.ofAllUsers.count
select count(*) as "rows"
  from "sessions" as "s"
  where "s"."app_name" = :app;

-- list.ofAllUsers.countTerms
select count(*) as "entries"
  from (select "c"."term"
  from "adk_session_wasm_terms" as "c"
  where "c"."app_name" = :app and "c"."term" >= :from0 and "c"."term" < :to0
  limit 5001) as "n";

-- list.ofAllUsers.creation.all
select "s"."user_id" as "user_id", "s"."id" as "id", "s"."state" as "state", "s"."create_time" as "create_time", "s"."update_time" as "update_time", "k"."update_time" as "side_time", "k"."last_update_time" as "last_update_time", "d"."title" as "title", "d"."labels" as "labels"
  from "sessions" as "s"
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id and "k"."update_time" = "s"."update_time"
  left join "adk_session_wasm_details" as "d" on d.app_name = s.app_name and d.user_id = s.user_id and d.session_id = s.id and d.create_time = s.create_time
  where "s"."app_name" = :app;

-- list.ofAllUsers.creation.between
select "s"."user_id" as "user_id", "s"."id" as "id", "s"."state" as "state", "s"."create_time" as "create_time", "s"."update_time" as "update_time", "k"."update_time" as "side_time", "k"."last_update_time" as "last_update_time", "d"."title" as "title", "d"."labels" as "labels"
  from "sessions" as "s"
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id and "k"."update_time" = "s"."update_time"
  left join "adk_session_wasm_details" as "d" on d.app_name = s.app_name and d.user_id = s.user_id and d.session_id = s.id and d.create_time = s.create_time
  where "s"."app_name" = :app and "s"."create_time" >= :from and "s"."create_time" <= :to;

-- list.ofAllUsers.creation.times([2,"desc",true,true])
select "s"."create_time" as "time"
  from "sessions" as "s"
  where "s"."app_name" = :app and "s"."create_time" < :place and "s"."create_time" >= :bound
  order by "s"."create_time" desc
  limit 2;

-- list.ofAllUsers.sessions.all
select "s"."user_id" as "user_id", "s"."id" as "id", "s"."state" as "state", "s"."create_time" as "create_time", "s"."update_time" as "update_time", "k"."update_time" as "side_time", "k"."last_update_time" as "last_update_time", "d"."title" as "title", "d"."labels" as "labels"
  from "sessions" as "s"
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id and "k"."update_time" = "s"."update_time"
  left join "adk_session_wasm_details" as "d" on d.app_name = s.app_name and d.user_id = s.user_id and d.session_id = s.id and d.create_time = s.create_time
  where "s"."app_name" = :app and "k"."session_id" is null;

-- list.ofAllUsers.sessions.between
select "s"."user_id" as "user_id", "s"."id" as "id", "s"."state" as "state", "s"."create_time" as "create_time", "s"."update_time" as "update_time", "k"."update_time" as "side_time", "k"."last_update_time" as "last_update_time", "d"."title" as "title", "d"."labels" as "labels"
  from "sessions" as "s"
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id and "k"."update_time" = "s"."update_time"
  left join "adk_session_wasm_details" as "d" on d.app_name = s.app_name and d.user_id = s.user_id and d.session_id = s.id and d.create_time = s.create_time
  where "s"."app_name" = :app and "k"."session_id" is null and "s"."update_time" >= :from and "s"."update_time" <= :to;

-- list.ofAllUsers.sessions.times([2,"desc",true,true])
select "s"."update_time" as "time"
  from "sessions" as "s"
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id and "k"."update_time" = "s"."update_time"
  where "s"."app_name" = :app and "k"."session_id" is null and "s"."update_time" < :place and "s"."update_time" >= :bound
  order by "s"."update_time" desc
  limit 2;

-- list.ofAllUsers.sideTable.all
select "s"."user_id" as "user_id", "s"."id" as "id", "s"."state" as "state", "s"."create_time" as "create_time", "s"."update_time" as "update_time", "k"."update_time" as "side_time", "k"."last_update_time" as "last_update_time", "d"."title" as "title", "d"."labels" as "labels"
  from "adk_session_wasm_sessions" as "k"
  left join "sessions" as "s" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id
  left join "adk_session_wasm_details" as "d" on d.app_name = s.app_name and d.user_id = s.user_id and d.session_id = s.id and d.create_time = s.create_time
  where case when s.update_time = k.update_time then true else false end and "k"."app_name" = :app;

-- list.ofAllUsers.sideTable.between
select "s"."user_id" as "user_id", "s"."id" as "id", "s"."state" as "state", "s"."create_time" as "create_time", "s"."update_time" as "update_time", "k"."update_time" as "side_time", "k"."last_update_time" as "last_update_time", "d"."title" as "title", "d"."labels" as "labels"
  from "adk_session_wasm_sessions" as "k"
  left join "sessions" as "s" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id
  left join "adk_session_wasm_details" as "d" on d.app_name = s.app_name and d.user_id = s.user_id and d.session_id = s.id and d.create_time = s.create_time
  where case when s.update_time = k.update_time then true else false end and "k"."app_name" = :app and "k"."last_update_time" >= :from and "k"."last_update_time" <= :to;

-- list.ofAllUsers.sideTable.times([2,"desc",true,true])
select "k"."last_update_time" as "time"
  from "adk_session_wasm_sessions" as "k"
  left join "sessions" as "s" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id
  where case when s.update_time = k.update_time then true else false end and "k"."app_name" = :app and "k"."last_update_time" < :place and "k"."last_update_time" >= :bound
  order by "k"."last_update_time" desc
  limit 2;

-- list.ofAllUsers.matching.createTime(2).all
select "s"."user_id" as "user_id", "s"."id" as "id", "s"."state" as "state", "s"."create_time" as "create_time", "s"."update_time" as "update_time", "k"."update_time" as "side_time", "k"."last_update_time" as "last_update_time", "d"."title" as "title", "d"."labels" as "labels"
  from (select distinct "t"."user_id", "t"."session_id"
  from "adk_session_wasm_terms" as "t"
  where "t"."app_name" = :app and "t"."term" >= :from0 and "t"."term" < :to0 and exists ( select 1
  from "adk_session_wasm_terms" o
  where o.app_name = t.app_name and o.user_id = t.user_id and o.session_id = t.session_id and "o"."term" >= :from1 and "o"."term" < :to1)) as "m"
  inner join "sessions" as "s" on "s"."app_name" = :app and "s"."user_id" = "m"."user_id" and "s"."id" = "m"."session_id"
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id and "k"."update_time" = "s"."update_time"
  left join "adk_session_wasm_details" as "d" on d.app_name = s.app_name and d.user_id = s.user_id and d.session_id = s.id and d.create_time = s.create_time;

-- list.ofAllUsers.matching.createTime(2).between
select "s"."user_id" as "user_id", "s"."id" as "id", "s"."state" as "state", "s"."create_time" as "create_time", "s"."update_time" as "update_time", "k"."update_time" as "side_time", "k"."last_update_time" as "last_update_time", "d"."title" as "title", "d"."labels" as "labels"
  from (select distinct "t"."user_id", "t"."session_id"
  from "adk_session_wasm_terms" as "t"
  where "t"."app_name" = :app and "t"."term" >= :from0 and "t"."term" < :to0 and exists ( select 1
  from "adk_session_wasm_terms" o
  where o.app_name = t.app_name and o.user_id = t.user_id and o.session_id = t.session_id and "o"."term" >= :from1 and "o"."term" < :to1)) as "m"
  inner join "sessions" as "s" on "s"."app_name" = :app and "s"."user_id" = "m"."user_id" and "s"."id" = "m"."session_id"
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id and "k"."update_time" = "s"."update_time"
  left join "adk_session_wasm_details" as "d" on d.app_name = s.app_name and d.user_id = s.user_id and d.session_id = s.id and d.create_time = s.create_time
  where "s"."create_time" >= :from and "s"."create_time" <= :to;

-- list.ofAllUsers.matching.createTime(2).times([2,"desc",true,true])
select "s"."create_time" as "time"
  from (select distinct "t"."user_id", "t"."session_id"
  from "adk_session_wasm_terms" as "t"
  where "t"."app_name" = :app and "t"."term" >= :from0 and "t"."term" < :to0 and exists ( select 1
  from "adk_session_wasm_terms" o
  where o.app_name = t.app_name and o.user_id = t.user_id and o.session_id = t.session_id and "o"."term" >= :from1 and "o"."term" < :to1)) as "m"
  inner join "sessions" as "s" on "s"."app_name" = :app and "s"."user_id" = "m"."user_id" and "s"."id" = "m"."session_id"
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id and "k"."update_time" = "s"."update_time"
  where "s"."create_time" < :place and "s"."create_time" >= :bound
  order by "s"."create_time" desc
  limit 2;

-- list.ofAllUsers.matching.lastUpdateTime(2).all
select "s"."user_id" as "user_id", "s"."id" as "id", "s"."state" as "state", "s"."create_time" as "create_time", "s"."update_time" as "update_time", "k"."update_time" as "side_time", "k"."last_update_time" as "last_update_time", "d"."title" as "title", "d"."labels" as "labels"
  from (select distinct "t"."user_id", "t"."session_id"
  from "adk_session_wasm_terms" as "t"
  where "t"."app_name" = :app and "t"."term" >= :from0 and "t"."term" < :to0 and exists ( select 1
  from "adk_session_wasm_terms" o
  where o.app_name = t.app_name and o.user_id = t.user_id and o.session_id = t.session_id and "o"."term" >= :from1 and "o"."term" < :to1)) as "m"
  inner join "sessions" as "s" on "s"."app_name" = :app and "s"."user_id" = "m"."user_id" and "s"."id" = "m"."session_id"
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id and "k"."update_time" = "s"."update_time"
  left join "adk_session_wasm_details" as "d" on d.app_name = s.app_name and d.user_id = s.user_id and d.session_id = s.id and d.create_time = s.create_time;

-- list.ofAllUsers.matching.lastUpdateTime(2).between
select "s"."user_id" as "user_id", "s"."id" as "id", "s"."state" as "state", "s"."create_time" as "create_time", "s"."update_time" as "update_time", "k"."update_time" as "side_time", "k"."last_update_time" as "last_update_time", "d"."title" as "title", "d"."labels" as "labels"
  from (select distinct "t"."user_id", "t"."session_id"
  from "adk_session_wasm_terms" as "t"
  where "t"."app_name" = :app and "t"."term" >= :from0 and "t"."term" < :to0 and exists ( select 1
  from "adk_session_wasm_terms" o
  where o.app_name = t.app_name and o.user_id = t.user_id and o.session_id = t.session_id and "o"."term" >= :from1 and "o"."term" < :to1)) as "m"
  inner join "sessions" as "s" on "s"."app_name" = :app and "s"."user_id" = "m"."user_id" and "s"."id" = "m"."session_id"
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id and "k"."update_time" = "s"."update_time"
  left join "adk_session_wasm_details" as "d" on d.app_name = s.app_name and d.user_id = s.user_id and d.session_id = s.id and d.create_time = s.create_time
  where coalesce(k.last_update_time, s.update_time) >= :from and coalesce(k.last_update_time, s.update_time) <= :to;

-- list.ofAllUsers.matching.lastUpdateTime(2).times([2,"desc",true,true])
select coalesce(k.last_update_time, s.update_time) as "time"
  from (select distinct "t"."user_id", "t"."session_id"
  from "adk_session_wasm_terms" as "t"
  where "t"."app_name" = :app and "t"."term" >= :from0 and "t"."term" < :to0 and exists ( select 1
  from "adk_session_wasm_terms" o
  where o.app_name = t.app_name and o.user_id = t.user_id and o.session_id = t.session_id and "o"."term" >= :from1 and "o"."term" < :to1)) as "m"
  inner join "sessions" as "s" on "s"."app_name" = :app and "s"."user_id" = "m"."user_id" and "s"."id" = "m"."session_id"
  left join "adk_session_wasm_sessions" as "k" on k.app_name = s.app_name and k.user_id = s.user_id and k.session_id = s.id and "k"."update_time" = "s"."update_time"
  where coalesce(k.last_update_time, s.update_time) < :place and coalesce(k.last_update_time, s.update_time) >= :bound
  order by coalesce(k.last_update_time, s.update_time) desc
  limit 2;

-- list.users(2)
select "user_id", "state" as "state", "update_time" as "update_time"
  from "user_states"
  where "app_name" = :app and "user_id" in (:user0, :user1);

-- describe.details
select "d"."session_id" as "details", "d"."title" as "title", "d"."labels" as "labels"
  from "sessions" as "s"
  left join "adk_session_wasm_details" as "d" on d.app_name = s.app_name and d.user_id = s.user_id and d.session_id = s.id and d.create_time = s.create_time
  where "s"."app_name" = :app and "s"."user_id" = :user and "s"."id" = :session;

-- terms.insertTerms(2)
insert into "adk_session_wasm_terms" ("app_name", "user_id", "session_id", "term")
  values (:app, :user, :session, :term), (:app, :user, :session, :term) on conflict do nothing;

-- terms.deleteTerms
delete
  from "adk_session_wasm_terms"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session;

-- terms.noteTerms
insert into "adk_internal_metadata" ("key", "value")
  values ("adk_session_wasm_terms", "complete") on conflict do nothing;

-- terms.described
select "app_name" as "app", "user_id" as "user", "session_id" as "session"
  from "adk_session_wasm_details"
  where ("title" is not null or "labels" is not null) and (app_name, user_id, session_id) > (:app, :user, :session)
  order by "app_name", "user_id", "session_id"
  limit :most;

-- delete.deleteOne.times
select "s"."update_time" as "update_time", (select "k"."update_time" as "side_time"
  from "adk_session_wasm_sessions" as "k"
  where "k"."app_name" = "s"."app_name" and "k"."user_id" = "s"."user_id" and "k"."session_id" = "s"."id") as "side_time", (select "n"."timestamp"
  from "events" as n
  where n.app_name = s.app_name and n.user_id = s.user_id and n.session_id = s.id
  order by "n"."timestamp" desc
  limit 1) as "newest", (select count(*)
  from "events" as n
  where n.app_name = s.app_name and n.user_id = s.user_id and n.session_id = s.id and "n"."timestamp" >= s.update_time) as "later"
  from "sessions" as "s"
  where "s"."app_name" = :app and "s"."user_id" = :user and "s"."id" = :session;

-- delete.deleteOne.events
delete
  from "events"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session;

-- delete.deleteOne.sideTable
delete
  from "adk_session_wasm_sessions"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session;

-- delete.deleteOne.details
delete
  from "adk_session_wasm_details"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session;

-- delete.deleteOne.terms
delete
  from "adk_session_wasm_terms"
  where "app_name" = :app and "user_id" = :user and "session_id" = :session;

-- delete.deleteOne.sessions
delete
  from "sessions"
  where "app_name" = :app and "user_id" = :user and "id" = :session;

-- delete.deleteAll.times
select "s"."update_time" as "update_time", (select "k"."update_time" as "side_time"
  from "adk_session_wasm_sessions" as "k"
  where "k"."app_name" = "s"."app_name" and "k"."user_id" = "s"."user_id" and "k"."session_id" = "s"."id") as "side_time", (select "n"."timestamp"
  from "events" as n
  where n.app_name = s.app_name and n.user_id = s.user_id and n.session_id = s.id
  order by "n"."timestamp" desc
  limit 1) as "newest", (select count(*)
  from "events" as n
  where n.app_name = s.app_name and n.user_id = s.user_id and n.session_id = s.id and "n"."timestamp" >= s.update_time) as "later"
  from "sessions" as "s"
  where "s"."app_name" = :app and "s"."user_id" = :user;

-- delete.deleteAll.events
delete
  from "events"
  where "app_name" = :app and "user_id" = :user;

-- delete.deleteAll.sideTable
delete
  from "adk_session_wasm_sessions"
  where "app_name" = :app and "user_id" = :user;

-- delete.deleteAll.details
delete
  from "adk_session_wasm_details"
  where "app_name" = :app and "user_id" = :user;

-- delete.deleteAll.terms
delete
  from "adk_session_wasm_terms"
  where "app_name" = :app and "user_id" = :user;

-- delete.deleteAll.sessions
delete
  from "sessions"
  where "app_name" = :app and "user_id" = :user;

-- delete.deleteUser
delete
  from "user_states"
  where "app_name" = :app and "user_id" = :user;

-- delete.floor
select "f"."value"
  from "adk_internal_metadata" as "f"
  where "f"."key" = 'adk_session_wasm_floor';

-- delete.raiseFloor
update "adk_internal_metadata"
  set "value" = :floor
  where "key" = "adk_session_wasm_floor" and "value" < :floor;
