import type { Event } from '../../../values/model/event/event.js';
import { partsOf } from '../../../values/model/event/parts.js';
import { isTemp, REMOVED, type StoredScope, storedScopeOf } from '../../../values/state/scope.js';
import { useAction } from '../view/hooks.js';
import {
  Button,
  ConfirmButton,
  ErrorNote,
  Facts,
  Items,
  JsonText,
  LongText,
  Name,
} from '../view/parts.js';
import { h, useState, type VNode } from '../view/preact.js';
import { clip, textOf, timeText } from '../view/text.js';
import { failureOf, nameOf } from './event_summary.js';

interface EventDetailProps {
  event: Event;
  /** Shows the history of a key of the state. */
  onShowKey: (key: string) => void;
  /** Undoes the turn of the event, and everything after it. */
  onRewind: (eventId: string) => Promise<void>;
}

/** An event with all of its parts and changes. */
export function EventDetail({ event, onShowKey, onRewind }: EventDetailProps): VNode {
  const { run, isBusy, error } = useAction();
  const [isRaw, setRaw] = useState(false);
  const { author, timestamp, id, invocationId, branch, modelVersion } = event;
  const failure = failureOf(event);
  return h('div', null, [
    h('h2', null, h('bdi', null, clip(author, 200) || 'unknown')),
    h(Facts, {
      facts: {
        Time: timeText(timestamp),
        Event: id,
        Invocation: invocationId,
        Branch: branch,
        Model: modelVersion,
      },
    }),
    failure !== undefined && h('p', { class: 'error' }, clip(failure, 2000)),
    partsOf(event).map((part) => h(PartView, { part })),
    h(Changes, { delta: event.actions?.stateDelta ?? {}, onShowKey }),
    h('div', { class: 'row' }, [
      h(Button, {
        label: 'Whole event as JSON',
        isExpanded: isRaw,
        onClick: () => setRaw(!isRaw),
      }),
      h(ConfirmButton, {
        label: 'Rewind to before this turn',
        question: 'Undo this turn and all later ones?',
        isDisabled: isBusy,
        onConfirm: () => void run(() => onRewind(id)),
      }),
    ]),
    h(ErrorNote, { error }),
    isRaw && h(JsonText, { value: event }),
  ]);
}

type Part = NonNullable<NonNullable<Event['content']>['parts']>[number];

function PartView({ part }: { part: Part }): VNode {
  const { text, thought, functionCall, functionResponse, ...rest } = part;
  return h('div', { class: 'part' }, [
    text !== undefined && thought === true && h('h3', null, 'Thought'),
    text !== undefined && h(LongText, { text: textOf(text) }),
    functionCall && [
      h('h3', null, h('bdi', null, `→ calls ${nameOf(functionCall, 200)}`)),
      h(JsonText, { value: functionCall.args ?? {} }),
    ],
    functionResponse && [
      h('h3', null, h('bdi', null, `← result of ${nameOf(functionResponse, 200)}`)),
      h(JsonText, { value: functionResponse.response ?? {} }),
    ],
    Object.keys(rest).length > 0 && h(JsonText, { value: rest }),
  ]);
}

const TITLES = {
  session: 'Session state',
  user: 'User state',
  app: 'App state',
} as const satisfies Record<StoredScope, string>;

/** What an event changed, by scope. */
function Changes(props: {
  delta: Record<string, unknown>;
  onShowKey: (key: string) => void;
}): VNode | null {
  const { delta, onShowKey } = props;
  const keys = Object.keys(delta).filter((key) => !isTemp(key));
  if (keys.length === 0) return null;
  return h('div', { class: 'changes' }, [
    h('h3', null, 'Changes'),
    Object.entries(TITLES).map(([scope, title]) => {
      const items = keys.filter((key) => storedScopeOf(key) === scope);
      if (items.length === 0) return null;
      return h('section', { 'aria-label': title }, [
        h('h4', null, title),
        h(Items<string>, {
          items,
          children: (key) =>
            h('li', { key }, [
              h('div', { class: 'row' }, [
                h(Name, { name: key }),
                h(Button, { label: 'History', spoken: `History of ${clip(key, 60)}`, onClick: () => onShowKey(key) }), // prettier-ignore
              ]),
              delta[key] === REMOVED
                ? h('p', { class: 'muted' }, 'removed')
                : h(JsonText, { value: delta[key] }),
            ]),
        }),
      ]);
    }),
  ]);
}
