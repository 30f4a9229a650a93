/**
 * The names in queries and bodies, made from the members of the requests and writes that these carry. A new member is an
 * error where the client makes them and where the handler reads them, until both have it.
 */
import type { PageRequest } from '../../core/read.js';
import type { ReadyAppend } from '../../core/write.js';
import type { FindRequest } from '../../values/model/search.js';
import type { GetSessionConfig, ImportedSessionRequest } from '../../values/model/session.js';
import type {
  DeleteSessionsRequest,
  ListSessionsRequest,
} from '../../values/model/session_list.js';

/** A query has a parameter for each of the labels. */
type InQuery<Member> = Member extends 'labels' ? 'label' : Member;

/** The parameters of a list of sessions. The path has the app. */
export type ListParameter = InQuery<Exclude<keyof ListSessionsRequest, 'appName' | 'signal'>>;
/** The parameters of a deletion of many sessions. */
export type DeletionParameter = InQuery<Exclude<keyof DeleteSessionsRequest, 'appName'>>;
/** The parameters of a search. The path has the app and the user. */
export type SearchParameter = InQuery<Exclude<keyof FindRequest, 'appName' | 'userId' | 'signal'>>;
/** The parameters of a read of a session. A damaged event always fails it. */
export type WindowParameter = Exclude<keyof GetSessionConfig, 'skipCorrupt'>;
/** The parameters of a page of events. The others are for caches and for storages of this process. */
export type PageParameter = Exclude<
  keyof PageRequest,
  'key' | 'created' | 'isToEnd' | 'skipCorrupt'
>;

/** The members of the body of an append, besides those of this process alone. */
export type AppendMember = Exclude<
  keyof ReadyAppend,
  'kind' | 'key' | 'mutation' | 'compute' | 'creation'
>;
/** The members of the body of a creation. The path has the app and the user. */
export type CreationMember = Exclude<keyof ImportedSessionRequest, 'appName' | 'userId' | 'signal'>;
