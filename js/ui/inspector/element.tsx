import type { GivenService } from '../../core/call/given_service.js';
import { coreOf } from '../../core/core_of.js';
import type { CompositeSessionKey } from '../../values/model/session.js';
import type { SessionService } from '../../values/model/session_service.js';
import { Inspector, type Selection } from './inspector.js';
import { CSS } from './styles.js';
import { Button } from './view/parts.js';
import { render, useLayoutEffect, useState, type VNode } from './view/preact.js';

const NAME = 'adk-session-inspector';

/** Property by attribute. */
const ATTRIBUTES = {
  'app-name': 'appName',
  'user-id': 'userId',
  'session-id': 'sessionId',
} as const;

/** On a server there are no elements, and the import does nothing. */
const Base = globalThis.HTMLElement ?? (Object as unknown as typeof HTMLElement);

/** One sheet for all inspectors of the page. A constructed sheet needs no `style-src` of a content security policy. */
let sheet: CSSStyleSheet | undefined;

/** What an inspector shows. A page sets it, and the user changes it. */
export interface InspectorProperties {
  /** Any service of this package, or the promise that `openSessionService` returns. */
  service: SessionService | Promise<SessionService> | null | undefined;
  /** The app whose sessions are listed. Also the attribute `app-name`. */
  appName: string | null | undefined;
  /** The user whose sessions are listed. Absent: those of all users. Also the attribute `user-id`. */
  userId: string | null | undefined;
  /** The session that is shown; it needs app and user. Also the attribute `session-id`. */
  sessionId: string | null | undefined;
}

/**
 * The element `<adk-session-inspector>`: shows and edits the sessions of a service. The import of
 * `adk-session-wasm/inspector` defines it.
 *
 * When the user selects a session, it dispatches the event `sessionselect`, whose `detail` is the key of the session.
 *
 * @example
 * ```ts
 * import { openSessionService } from 'adk-session-wasm';
 * import 'adk-session-wasm/inspector';
 *
 * const inspector = document.createElement('adk-session-inspector');
 * inspector.service = openSessionService({ storage: 'indexeddb' });
 * inspector.appName = 'shop';
 * document.body.append(inspector);
 * ```
 */
export class SessionInspectorElement extends Base implements InspectorProperties {
  /** @internal */
  static readonly observedAttributes: readonly string[] = Object.keys(ATTRIBUTES);

  #service: InspectorProperties['service'];
  /** Counts the services: another one begins with a new view. */
  #serviceNumber = 0;
  #appName: InspectorProperties['appName'];
  #userId: InspectorProperties['userId'];
  #sessionId: InspectorProperties['sessionId'];
  /** Absent while it must be made again from the properties. */
  #given: Selection | undefined;

  /** See {@link InspectorProperties.service}. */
  get service(): InspectorProperties['service'] {
    return this.#service;
  }
  set service(service: InspectorProperties['service']) {
    if (service !== this.#service) this.#serviceNumber += 1;
    this.#service = service;
    this.#render();
  }

  /** See {@link InspectorProperties.appName}. */
  get appName(): InspectorProperties['appName'] {
    return this.#appName;
  }
  set appName(appName: InspectorProperties['appName']) {
    this.#appName = appName;
    this.#select();
  }

  /** See {@link InspectorProperties.userId}. */
  get userId(): InspectorProperties['userId'] {
    return this.#userId;
  }
  set userId(userId: InspectorProperties['userId']) {
    this.#userId = userId;
    this.#select();
  }

  /** See {@link InspectorProperties.sessionId}. */
  get sessionId(): InspectorProperties['sessionId'] {
    return this.#sessionId;
  }
  set sessionId(sessionId: InspectorProperties['sessionId']) {
    this.#sessionId = sessionId;
    this.#select();
  }

  /** @internal */
  connectedCallback(): void {
    // Properties that were set before the element was defined hide the accessors.
    const own = this as unknown as Record<string, unknown>;
    for (const name of ['service', ...Object.values(ATTRIBUTES)]) {
      if (!Object.hasOwn(own, name)) continue;
      const value = own[name];
      delete own[name];
      own[name] = value;
    }
    if (this.shadowRoot === null) {
      if (sheet === undefined) {
        sheet = new CSSStyleSheet();
        sheet.replaceSync(CSS);
      }
      this.attachShadow({ mode: 'open' }).adoptedStyleSheets = [sheet];
    }
    this.#render();
  }

  /** @internal */
  disconnectedCallback(): void {
    // An element that is moved is connected again at once. It keeps what the user has opened and typed.
    queueMicrotask(() => {
      if (!this.isConnected && this.shadowRoot !== null) render(null, this.shadowRoot);
    });
  }

  /** @internal */
  attributeChangedCallback(name: keyof typeof ATTRIBUTES, _: string | null, value: string | null) {
    this[ATTRIBUTES[name]] = value;
  }

  #select(): void {
    this.#given = undefined;
    this.#render();
  }

  #render(): void {
    if (!this.isConnected || this.shadowRoot === null) return;
    const [appName, userId, sessionId] = [
      this.#appName ?? '',
      this.#userId ?? '',
      this.#sessionId ?? '',
    ];
    const isWhole = appName !== '' && userId !== '' && sessionId !== '';
    const session = isWhole ? { appName, userId, sessionId } : undefined;
    const given = (this.#given ??= { appName, userId, session });
    const service = this.#service;
    const number = this.#serviceNumber;
    // An import may end when the element shows another service already.
    const onSelection = (selection: Selection): void => {
      if (number === this.#serviceNumber) this.#note(selection);
    };
    const onForgotten = (): void => {
      // No session is selected afterwards.
      onSelection({ appName: this.#appName ?? '', userId: this.#userId ?? '', session: undefined });
    };
    const view =
      service === undefined || service === null ? (
        <p class="inspector">Set the property “service” of this element.</p>
      ) : (
        <UntilForgotten
          key={number}
          service={service}
          onForgotten={onForgotten}
          show={() => (
            <Inspector service={service} given={this.#given ?? given} onSelection={onSelection} />
          )}
        />
      );
    render(view, this.shadowRoot);
  }

  /** Notes what the user selects. It is shown again when the element is put back into the page. */
  #note(selection: Selection): void {
    const { appName, userId, session } = selection;
    this.#given = selection;
    // Two users may have sessions of the same id.
    const isNew =
      session !== undefined &&
      (session.sessionId !== this.#sessionId ||
        session.userId !== this.#userId ||
        session.appName !== this.#appName);
    this.#appName = appName;
    this.#userId = session?.userId ?? userId;
    this.#sessionId = session?.sessionId;
    if (!isNew) return;
    const detail: CompositeSessionKey = session;
    this.dispatchEvent(new CustomEvent('sessionselect', { detail, bubbles: true, composed: true }));
  }
}

if (globalThis.customElements !== undefined && customElements.get(NAME) === undefined) {
  customElements.define(NAME, SessionInspectorElement);
}

declare global {
  interface HTMLElementTagNameMap {
    'adk-session-inspector': HTMLElement & InspectorProperties;
  }
  interface HTMLElementEventMap {
    sessionselect: CustomEvent<CompositeSessionKey>;
  }
}

interface UntilForgottenProps {
  service: GivenService<SessionService>;
  /** Called when a cache has forgotten what is shown. */
  onForgotten: () => void;
  show: () => VNode;
}

/**
 * Shows a view until a cache forgets what it shows. Then nothing of it is left, and nothing is read until the user asks
 * for it.
 */
function UntilForgotten({ service, onForgotten, show }: UntilForgottenProps): VNode {
  const [isForgotten, setForgotten] = useState(false);
  // The view reads in later effects, so no `forget` is missed after that.
  useLayoutEffect(() => {
    const forget = (): void => {
      setForgotten(true);
      onForgotten();
    };
    let stop: (() => void) | undefined;
    let isOver = false;
    Promise.resolve(service).then(
      (opened) => {
        if (!isOver) stop = coreOf(opened)?.epochs?.onForgotten(forget);
      },
      () => undefined,
    );
    return () => {
      isOver = true;
      stop?.();
    };
  }, [service]);
  if (!isForgotten) return show();
  return (
    <section class="inspector" aria-label="Session inspector">
      <p role="status">The cache has forgotten its local data.</p>
      <Button label="Show again" onClick={() => setForgotten(false)} />
    </section>
  );
}
