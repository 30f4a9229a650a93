import type { LiveSession } from '../../live/index.js';
import { useAction, useReading, useStore } from '../view/hooks.js';
import { Button, ErrorNote, Name } from '../view/parts.js';
import { h, type VNode } from '../view/preact.js';

/** Where the session has other branches: the alternatives of each turn. */
export function BranchList({ live }: { live: LiveSession }): VNode | null {
  const { pages, status } = useStore(live);
  const isReady = status === 'ready';
  const { value: places = [], error: readError } = useReading(
    async () => (isReady ? live.branches() : []),
    [live, pages, isReady],
  );
  const { run, isBusy, error = readError } = useAction();
  if (places.length === 0) return h(ErrorNote, { error });
  return h('section', { 'aria-label': 'Branches' }, [
    h('h3', null, 'Branches'),
    places.map(({ after, alternatives }) => [
      h(
        'h4',
        null,
        after === undefined ? 'At the beginning' : ['After ', h(Name, { name: after })],
      ),
      h(
        'ul',
        { class: 'items' },
        alternatives.map(({ invocationId, isShown, branch }, at) => {
          const label = `Show version ${at + 1}`;
          return h('li', { key: invocationId, class: 'row' }, [
            h('span', null, `${at + 1}/${alternatives.length}`),
            h(Name, { name: invocationId }),
            isShown && h('span', { class: 'muted' }, 'shown'),
            !isShown &&
              branch !== undefined &&
              h(Button, {
                label,
                spoken: `${label} ${after === undefined ? 'at the beginning' : `after ${after}`}`,
                isDisabled: isBusy,
                onClick: () => void run(() => live.switchBranch(branch)),
              }),
          ]);
        }),
      ),
    ]),
    h(ErrorNote, { error }),
  ]);
}
