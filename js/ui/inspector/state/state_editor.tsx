import { STORED_PREFIXES } from '../../../values/state/scope.js';
import { useAction } from '../view/hooks.js';
import { Button, ErrorNote, focus } from '../view/parts.js';
import { useState, type VNode } from '../view/preact.js';
import { clip, jsonText } from '../view/text.js';

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
export function ValueEditor(props: {
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
export function NewKey({
  onSave,
}: {
  onSave: (key: string, value: unknown) => Promise<void>;
}): VNode {
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
