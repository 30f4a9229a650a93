// What an agent was told: its instruction, with the values that the state has put in.

import { Template } from 'adk-session-wasm';
import { element } from '../page/element.js';
import { valueText } from './knowledge.js';
import type { Moment } from './moment.js';

/** Returns the instruction of the moment's agent, its values marked. */
export function toldAt({ agent, told }: Moment): (HTMLElement | string)[] {
  if (agent === undefined) return ['These agents are not of the playground.'];
  const { instruction } = agent;
  const shown: (HTMLElement | string)[] = [];
  let end = 0;
  for (const { name, optional, start, end: next } of new Template(instruction).placeholders) {
    shown.push(instruction.slice(end, start), markOf(name, optional, told));
    end = next;
  }
  return [...shown, instruction.slice(end)];
}

function markOf(name: string, isOptional: boolean, told: Moment['told']): HTMLElement {
  if (Object.hasOwn(told, name)) {
    const textContent = told[name] === null ? '' : valueText(told[name]);
    return element('mark', { textContent, title: `{${name}}` });
  }
  // No storage has `temp:` keys: what a tool wrote there is known only while its turn runs.
  const reason = name.startsWith('temp:')
    ? 'lives only while its turn runs'
    : isOptional
      ? 'has no value: the agent reads nothing here'
      : 'has no value yet';
  return element('mark', { className: 'empty', textContent: name, title: `{${name}} ${reason}` });
}
