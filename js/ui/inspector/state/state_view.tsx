import type { GivenService } from '../../../core/call/given_service.js';
import type { SessionService } from '../../../values/model/session_service.js';
import { REMOVED, type StoredScope, STORED_PREFIXES } from '../../../values/state/scope.js';
import type { LiveSession } from '../../live/index.js';
import { useAction, useStore } from '../view/hooks.js';
import {
  Button,
  ConfirmButton,
  ErrorNote,
  Field,
  Items,
  JsonText,
  Name,
  focus,
} from '../view/parts.js';
import { useState, type VNode } from '../view/preact.js';
import { clip, jsonText } from '../view/text.js';
import { KeyChanges } from './key_changes.js';

interface StateViewProps {
  service: GivenService<SessionService>;
  live: LiveSession;
  /** The key whose history is shown. */
  shownKey: string | undefined;
  onShowKey: (key: string | undefined) => void;
  onShowEvent: (eventId: string) => void;
}

const TITLES = {
  session: 'Session',
  user: 'User',
  app: 'App',
} as const satisfies Record<StoredScope, string>;

/** The state by scope: values, their histories, and forms to change them. */
export function StateView(props: StateViewProps): VNode {
  const { service, live, shownKey, onShowKey, onShowEvent } = props;
  const { scopes, status } = useStore(live);
  const [filter, setFilter] = useState('');
  const change = (key: string, value: unknown): Promise<void> =>
    // A literal with the key `__proto__` would set the prototype.
    live.updateState(Object.fromEntries([[key, value]]));
  const named = Object.entries(TITLES).map(([scope, title]) => {
    const state: Readonly<Record<string, unknown>> = scopes[scope as StoredScope];
    return [title, state] as const;
  });
  const isKnown = named.some(
    ([, state]) => shownKey !== undefined && Object.hasOwn(state, shownKey),
  );
  const history = (stateKey: string, value: unknown): VNode => (
    <KeyChanges
      key={stateKey}
      service={service}
      sessionKey={live.key}
      stateKey={stateKey}
      value={value}
      onShowEvent={onShowEvent}
    />
  );
  return (
    <div>
      <Field label="Filter keys" value={filter} onValue={setFilter} />
      {shownKey !== undefined && !isKnown && (
        <>
          <h2>
            <Name name={shownKey} /> is not set
          </h2>
          {history(shownKey, undefined)}
        </>
      )}
      {named.map(([scope, state]) => {
        const keys = Object.keys(state)
          .filter((key) => key.includes(filter))
          .sort();
        return (
          <section key={scope} aria-label={`${scope} state`}>
            <h2>
              {scope} ({keys.length})
            </h2>
            <Items<string> items={keys}>
              {(key) => (
                <StateKey
                  key={key}
                  stateKey={key}
                  value={state[key]}
                  isShown={key === shownKey}
                  onShow={(isShown) => onShowKey(isShown ? key : undefined)}
                  onChange={(value) => change(key, value)}
                  history={history}
                />
              )}
            </Items>
          </section>
        );
      })}
      {status === 'ready' && <NewKey onSave={change} />}
    </div>
  );
}

function StateKey(props: {
  stateKey: string;
  value: unknown;
  isShown: boolean;
  onShow: (isShown: boolean) => void;
  onChange: (value: unknown) => Promise<void>;
  history: (stateKey: string, value: unknown) => VNode;
}): VNode {
  const { stateKey, value, isShown, onShow, onChange, history } = props;
  const [isEditing, setEditing] = useState(false);
  const { run, isBusy, error } = useAction();
  const name = clip(stateKey, 60);
  const save = async (changed: unknown): Promise<void> => {
    await onChange(changed);
    setEditing(false);
  };
  return (
    <li class="state-key">
      <div class="row">
        <Name name={stateKey} />
        <Button label="Edit" spoken={`Edit ${name}`} onClick={() => setEditing(!isEditing)} />
        <Button
          label="History"
          spoken={`History of ${name}`}
          isExpanded={isShown}
          onClick={() => onShow(!isShown)}
        />
        <ConfirmButton
          label="Remove"
          question={`Remove ${name}?`}
          isDisabled={isBusy}
          onConfirm={() => void run(() => onChange(REMOVED))}
        />
      </div>
      <ErrorNote error={error} />
      {isEditing ? (
        <ValueEditor
          stateKey={stateKey}
          value={value}
          onSave={save}
          onCancel={() => setEditing(false)}
        />
      ) : (
        <JsonText value={value} />
      )}
      {isShown && history(stateKey, value)}
    </li>
  );
}

/** Reads the JSON that a user typed. @throws SyntaxError with a sentence for people */
function parseValue(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    const example = 'Text needs quotation marks: "tea".';
    throw new SyntaxError(`The value is not JSON. ${example}`, { cause });
  }
}

/** A form for the value of a key. */
function ValueEditor(props: {
  stateKey: string;
  value: unknown;
  onSave: (value: unknown) => Promise<void>;
  onCancel: () => void;
}): VNode {
  const { stateKey, onSave, onCancel } = props;
  const [text, setText] = useState(() => jsonText(props.value, 2));
  const { run, isBusy, error } = useAction();
  const save = (event: Event): void => {
    event.preventDefault();
    void run(() => onSave(parseValue(text)));
  };
  return (
    <form onSubmit={save} class="editor">
      <textarea
        aria-label={`Value of ${clip(stateKey, 60)} as JSON`}
        rows={5}
        spellcheck={false}
        value={text}
        ref={focus}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <ErrorNote error={error} />
      <div class="row">
        <Button label="Save" isDisabled={isBusy} />
        <Button label="Cancel" onClick={onCancel} />
      </div>
    </form>
  );
}

const PREFIXES = new Map<string, string>(STORED_PREFIXES);

/** A form for a new key. */
function NewKey({ onSave }: { onSave: (key: string, value: unknown) => Promise<void> }): VNode {
  const [scope, setScope] = useState('session');
  const [name, setName] = useState('');
  const [text, setText] = useState('""');
  const { run, isBusy, error } = useAction();
  const save = (event: Event): void => {
    event.preventDefault();
    void run(async () => {
      if (name === '') throw new Error('The key has no name.');
      await onSave((PREFIXES.get(scope) ?? '') + name, parseValue(text));
      setName('');
      setText('""');
    });
  };
  return (
    <form onSubmit={save} class="editor" aria-label="New key">
      <div class="row">
        <select
          aria-label="Scope"
          value={scope}
          onChange={(event) => setScope(event.currentTarget.value)}
        >
          {[...PREFIXES.keys()].map((id) => (
            <option key={id} value={id}>
              {id}
            </option>
          ))}
        </select>
        <input
          type="text"
          aria-label="Name of the new key"
          placeholder="key"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <input
          type="text"
          aria-label="Value of the new key as JSON"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <Button label="Add" isDisabled={isBusy} />
      </div>
      <ErrorNote error={error} />
    </form>
  );
}
