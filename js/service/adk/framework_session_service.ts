import type { BaseSessionService, ListSessionsResponse, Session } from '@google/adk';
import { SessionError } from '../../values/errors/errors.js';
import { makeDisposable } from '../../core/call/lifetime.js';
import { requireService } from '../../core/call/given_service.js';
import type {
  Abortable,
  CreateSessionRequest,
  DeleteSessionRequest,
  GetSessionRequest,
  RevisionCheck,
} from '../../values/model/session.js';
import { CORE, type Core, coreOf } from '../../core/core_of.js';
import { runPlan } from '../../core/storage/reads/read_plan.js';
import { ModelFiles } from './model_files.js';
import type { RunnerReads } from './runner_reads.js';
import type {
  ListSessionsRequest,
  ListSessionsTotalRequest,
  SessionsPage,
  SessionsRequest,
} from '../../values/model/session_list.js';
import type { AppendedEvent, NewEvent } from '../../values/model/event/event.js';
import { SERVICE_METHODS } from '../../values/model/service_methods.js';
import type { SessionService } from '../../values/model/session_service.js';
import type { StorageInfo } from '../../values/model/storage_info.js';
import { type AppendRules, setAppendRules } from '../append/state_writer.js';
import { acceptToolConfirmations } from './tool_confirmations.js';
import { markRaw } from '../../values/members.js';

/** Request to append an event through a handle. */
export interface AppendEventRequest<E extends NewEvent = NewEvent>
  extends RevisionCheck, Abortable {
  /** The handle to append through. */
  session: Session;
  /** The event; the call sets its missing members. */
  event: E;
}

/** Request to append events through a handle, all or none. */
export interface AppendEventsRequest<E extends NewEvent = NewEvent>
  extends RevisionCheck, Abortable {
  /** The handle to append through. */
  session: Session;
  /** The events, in order. */
  events: E[];
}

/** A page of sessions. The total may be absent. */
export interface FrameworkSessionsPage extends Omit<SessionsPage, 'sessions'> {
  /** Sessions without their events. */
  sessions: Session[];
}

/** The members that do not mention the framework's types. */
type OwnMembers = Omit<SessionService, keyof BaseSessionService | 'appendEvents' | 'sessions'>;

/**
 * A service of this package as a `BaseSessionService` of the framework. The framework's types require a
 * subclass, since its class has private members.
 *
 * Over your own implementation of `SessionService`, the methods that it lacks fail with `unsupported`.
 */
export interface FrameworkSessionService extends BaseSessionService, OwnMembers {
  /** @throws SessionError (as a rejection) `already_exists`, `invalid_argument`, `unserializable` */
  createSession(request: CreateSessionRequest): Promise<Session>;
  /** Resolves to `undefined` if there is no such session. */
  getSession(request: GetSessionRequest): Promise<Session | undefined>;
  /** Gets or creates the session in one atomic step; the framework's own method is not atomic. */
  getOrCreateSession(request: CreateSessionRequest): Promise<Session>;
  listSessions(request: ListSessionsTotalRequest): Promise<ListSessionsResponse>;
  /** Lists a page of sessions; `withTotal: false` leaves the total out. */
  listSessions(request: ListSessionsRequest): Promise<FrameworkSessionsPage>;
  /** Iterates over the sessions of a list, page by page. */
  sessions(request: SessionsRequest): AsyncGenerator<Session, void, undefined>;
  /** Deletes the session. Resolves even if it does not exist. The app's and the user's state stay. */
  deleteSession(request: DeleteSessionRequest): Promise<void>;
  /** Stores the event and its delta in one atomic step; resolves to the same event object. */
  appendEvent<E extends NewEvent>(request: AppendEventRequest<E>): Promise<AppendedEvent<E>>;
  /** Appends all events in order, or none of them. */
  appendEvents<E extends NewEvent>(request: AppendEventsRequest<E>): Promise<AppendedEvent<E>[]>;
}

/** The methods that only forward to the service. */
type ForwardedName = Exclude<
  keyof typeof SERVICE_METHODS,
  'createSession' | 'getSession' | 'getOrCreateSession' | 'appendEvent' | 'appendEvents'
>;

/** The framework's class with the methods that {@link frameworkClass} defines on the prototype. */
type ForwardingBase = abstract new () => BaseSessionService &
  Pick<FrameworkSessionService, ForwardedName>;

/** What differs for one run. */
export interface ServedRun {
  /** Appends an event of the run. `append` appends it as the wrapper does. */
  readonly append: (
    request: AppendEventRequest,
    append: (request: AppendEventRequest) => Promise<AppendedEvent<NewEvent>>,
  ) => Promise<AppendedEvent<NewEvent>>;
  /** The message that the run answers, if it is stored already. Each window of events has it. */
  readonly storedMessageId: string | undefined;
}

/**
 * The method of a wrapper that returns another wrapper of its service, for one run. From the symbol registry, since a
 * program may load two copies of this package.
 */
const FOR_RUN = Symbol.for('adk-session-wasm.forRun');

/** Returns the view of a service for one run; `undefined` if the service is none of ours. */
export function serviceForRun(
  service: object,
  run: ServedRun,
): FrameworkSessionService | undefined {
  const given = service as { [FOR_RUN]?: (run: ServedRun) => FrameworkSessionService };
  return given[FOR_RUN]?.(run);
}

/** Makes a wrapper of a service whose appends follow the given rules. */
export type FrameworkClass = new (
  service: SessionService,
  rules: AppendRules,
  reads: RunnerReads,
  run?: ServedRun,
) => FrameworkSessionService;

/** The methods that the framework calls. */
const REQUIRED_METHODS = [
  'createSession',
  'getSession',
  'getOrCreateSession',
  'deleteSession',
  'appendEvent',
] as const;

/** Returns the wrapping class for this copy of the framework. */
export function frameworkClass(Base: typeof BaseSessionService): FrameworkClass {
  const Forwarding = Base as ForwardingBase;
  return class SessionServiceOver extends Forwarding implements FrameworkSessionService {
    declare [Symbol.asyncDispose]: () => Promise<void>;

    static {
      markRaw(this.prototype);
      for (const [name, { isAsync }] of Object.entries(SERVICE_METHODS)) {
        if (Object.hasOwn(this.prototype, name)) continue;
        const value = isAsync
          ? async function (this: SessionServiceOver, ...parameters: unknown[]) {
              return await this.#forward(name, parameters);
            }
          : function (this: SessionServiceOver, ...parameters: unknown[]) {
              return this.#forward(name, parameters);
            };
        Object.defineProperty(this.prototype, name, { value, configurable: true, writable: true });
      }
      makeDisposable(this.prototype, function () {
        return this.close();
      });
    }

    readonly #service: SessionService;
    readonly #rules: AppendRules;
    readonly #reads: RunnerReads;
    readonly #run: ServedRun | undefined;
    readonly #files: ModelFiles;

    constructor(service: SessionService, rules: AppendRules, reads: RunnerReads, run?: ServedRun) {
      super();
      requireService(service, REQUIRED_METHODS);
      this.#service = service;
      this.#rules = rules;
      this.#reads = reads;
      this.#run = run;
      this.#files = new ModelFiles(service, reads.modelFiles);
    }

    [FOR_RUN](run: ServedRun): FrameworkSessionService {
      return new SessionServiceOver(this.#service, this.#rules, this.#reads, run);
    }

    /** Histories are computed where the wrapped service computes them. */
    get [CORE](): Core | undefined {
      return coreOf(this.#service);
    }

    get storage(): StorageInfo {
      return this.#service.storage;
    }

    async createSession(request: CreateSessionRequest): Promise<Session> {
      acceptToolConfirmations(request);
      return await this.#service.createSession(request);
    }

    async getSession(request: GetSessionRequest): Promise<Session | undefined> {
      const plan = this.#reads.plan(request, this.#run?.storedMessageId);
      const session = await runPlan(plan, (request) => this.#service.getSession(request));
      if (session !== undefined) await this.#files.give(session);
      return session;
    }

    override async getOrCreateSession(request: CreateSessionRequest): Promise<Session> {
      acceptToolConfirmations(request);
      const plan = this.#reads.plan(request);
      const read = await runPlan(plan, (request) => this.#service.getOrCreateSession(request));
      const session = read as Session;
      await this.#files.give(session);
      return session;
    }

    override appendEvent<E extends NewEvent>(
      request: AppendEventRequest<E>,
    ): Promise<AppendedEvent<E>> {
      const append = (given: AppendEventRequest): Promise<AppendedEvent<NewEvent>> => {
        this.#prepare(given, () => [given.event]);
        return this.#withFiles(given, this.#service.appendEvent(given));
      };
      const appended: unknown = this.#run?.append(request, append) ?? append(request);
      return appended as Promise<AppendedEvent<E>>;
    }

    appendEvents<E extends NewEvent>(request: AppendEventsRequest<E>): Promise<AppendedEvent<E>[]> {
      this.#prepare(request, () => request.events);
      return this.#withFiles(request, this.#service.appendEvents(request));
    }

    /** An append gives the handle its own events and those that it had missed. */
    #withFiles<T>(request: { readonly session: Session }, appending: Promise<T>): Promise<T> {
      if (this.#files.artifacts === undefined) return appending;
      return appending.then(async (appended) => {
        await this.#files.give(request.session);
        return appended;
      });
    }

    #prepare(request: object, eventsOf: () => readonly NewEvent[]): void {
      acceptToolConfirmations(request);
      try {
        setAppendRules(eventsOf(), this.#rules);
      } catch {
        // Ignored: the service reads the same member next, and reports why it cannot.
      }
    }

    /** @throws SessionError `unsupported` if the service lacks the method */
    #forward(name: string, parameters: unknown[]): unknown {
      const methods = this.#service as unknown as Partial<Record<string, unknown>>;
      const method = methods[name];
      if (typeof method === 'function') return Reflect.apply(method, methods, parameters);
      const { kind } = this.storage;
      throw new SessionError('unsupported', `The service over ${kind} has no method ${name}.`);
    }
  };
}
