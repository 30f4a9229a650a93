// What the agents know: the state by scope, with what the turn has changed.

import { element } from '../page/element.js';
import { type Change, isRemoved, type Moment } from './moment.js';

const SCOPES = [
  { prefix: '', title: 'Session', about: 'this conversation' },
  { prefix: 'user:', title: 'User', about: 'all conversations of the guest' },
  { prefix: 'app:', title: 'App', about: 'everybody' },
] as const;

/** Returns a section for each scope of the state. */
export function knowledgeOf({ state, changes }: Moment): HTMLElement[] {
  const keys = [...new Set([...Object.keys(state), ...changes.keys()])].sort();
  return SCOPES.map(({ prefix, title, about }) => {
    const rows = keys.filter((key) => prefixOf(key) === prefix);
    return element(
      'section',
      { className: 'scope' },
      element('h3', {}, title, element('small', { textContent: about })),
      rows.length === 0
        ? element('p', { className: 'none', textContent: 'nothing yet' })
        : element('dl', {}, ...rows.map((key) => rowOf(key, prefix, state, changes.get(key)))),
    );
  });
}

function rowOf(key: string, prefix: string, state: Moment['state'], change: Change | undefined) {
  const isHere = Object.hasOwn(state, key);
  const value = element('dd', { textContent: isHere ? valueText(state[key]) : 'removed' });
  const row = element('div', {}, element('dt', { textContent: key.slice(prefix.length) }), value);
  if (change === undefined) return row;
  row.className = isHere ? 'changed' : 'changed removed';
  const before = isRemoved(change.before) ? '' : valueText(change.before);
  if (before !== '' && before !== value.textContent)
    value.append(
      ' ',
      element('small', {
        className: before.length > 24 ? 'long' : '',
        textContent: `was ${before}`,
      }),
    );
  else if (isHere) value.append(' ', element('small', { textContent: 'new' }));
  return row;
}

/** Keys with another prefix are the session's own. */
function prefixOf(key: string): string {
  return /^(?:user|app):/.exec(key)?.[0] ?? '';
}

/** Returns a value of the state for people: a text as it is, anything else as JSON. */
export function valueText(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}
