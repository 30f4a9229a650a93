import type { Event } from '../../model/event/event.js';
import { partsOf } from '../../model/event/parts.js';
import { isTemp, REMOVED, storedScopeOf } from '../../state/scope.js';
import { Items, JsonText, LongText } from '../view/parts.js';
import { type ComponentChildren, h, useState, type VNode } from '../view/preact.js';
import { clip, textOf, timeText, visibleText } from '../view/text.js';
import { failureOf, nameOf } from './event_summary.js';

interface EventDetailProps {
  event: Event;
  /** Shows the history of a key of the state. */
  onShowKey: (key: string) => void;
  /** The controls for the event. */
  actions?: ComponentChildren;
}

/** An event with all of its parts and changes. */
export function EventDetail({ event, onShowKey, actions }: EventDetailProps): VNode {
  const [isRaw, setRaw] = useState(false);
  const { author, timestamp, id, invocationId, branch } = event;
  const failure = failureOf(event);
  return h('div', null, [
    h('h2', null, h('bdi', null, clip(author, 200) || 'unknown')),
    h('dl', { class: 'facts' }, [
      fact('Time', timeText(timestamp)),
      fact('Event', visibleText(id)),
      fact('Invocation', visibleText(invocationId)),
      branch !== undefined && fact('Branch', visibleText(branch)),
      event.modelVersion !== undefined && fact('Model', visibleText(event.modelVersion)),
    ]),
    failure !== undefined && h('p', { class: 'error' }, clip(failure, 2000)),
    partsOf(event).map((part) => h(PartView, { part })),
    h(Changes, { delta: event.actions?.stateDelta ?? {}, onShowKey }),
    h('div', { class: 'row' }, [
      actions,
      h(
        'button',
        { type: 'button', 'aria-expanded': isRaw, onClick: () => setRaw(!isRaw) },
        'Whole event as JSON',
      ),
    ]),
    isRaw && h(JsonText, { value: event }),
  ]);
}

function fact(name: string, value: string): VNode {
  return h('div', null, [h('dt', null, name), h('dd', null, h('bdi', null, value))]);
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

/** What an event changed, by scope. */
function Changes(props: {
  delta: Record<string, unknown>;
  onShowKey: (key: string) => void;
}): VNode | null {
  const { delta, onShowKey } = props;
  const keys = Object.keys(delta).filter((key) => !isTemp(key));
  if (keys.length === 0) return null;
  const scopes = Object.entries({
    'Session state': keys.filter((key) => storedScopeOf(key) === 'session'),
    'User state': keys.filter((key) => storedScopeOf(key) === 'user'),
    'App state': keys.filter((key) => storedScopeOf(key) === 'app'),
  });
  return h('div', { class: 'changes' }, [
    h('h3', null, 'Changes'),
    scopes
      .filter(([, changed]) => changed.length > 0)
      .map(([scope, changed]) =>
        h('section', { 'aria-label': scope }, [
          h('h4', null, scope),
          h(Items<string>, {
            items: changed,
            children: (key) =>
              h('li', { key }, [
                h('div', { class: 'row' }, [
                  h('code', null, h('bdi', null, clip(key, 200))),
                  h('button', { type: 'button', 'aria-label': `History of ${clip(key, 60)}`, onClick: () => onShowKey(key) }, 'History'), // prettier-ignore
                ]),
                delta[key] === REMOVED
                  ? h('p', { class: 'muted' }, 'removed')
                  : h(JsonText, { value: delta[key] }),
              ]),
          }),
        ]),
      ),
  ]);
}
