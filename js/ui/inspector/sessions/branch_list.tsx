import type { LiveSession } from '../../live/index.js';
import { useAction, useReading, useStore } from '../view/hooks.js';
import { Button, ErrorNote, Name } from '../view/parts.js';
import type { VNode } from '../view/preact.js';

/** Where the session has other branches: the alternatives of each turn. */
export function BranchList({ live }: { live: LiveSession }): VNode | null {
  const { pages, status } = useStore(live);
  const isReady = status === 'ready';
  const { value: places = [], error: readError } = useReading(
    async () => (isReady ? live.branches() : []),
    [live, pages, isReady],
  );
  const { run, isBusy, error = readError } = useAction();
  if (places.length === 0) return <ErrorNote error={error} />;
  return (
    <section aria-label="Branches">
      <h3>Branches</h3>
      {places.map(({ after, alternatives }) => (
        <>
          <h4>
            {after === undefined ? (
              'At the beginning'
            ) : (
              <>
                After <Name name={after} />
              </>
            )}
          </h4>
          <ul class="items">
            {alternatives.map(({ invocationId, isShown, branch }, at) => {
              const label = `Show version ${at + 1}`;
              return (
                <li key={invocationId} class="row">
                  <span>
                    {at + 1}/{alternatives.length}
                  </span>
                  <Name name={invocationId} />
                  {isShown && <span class="muted">shown</span>}
                  {!isShown && branch !== undefined && (
                    <Button
                      label={label}
                      spoken={`${label} ${after === undefined ? 'at the beginning' : `after ${after}`}`}
                      isDisabled={isBusy}
                      onClick={() => void run(() => live.switchBranch(branch))}
                    />
                  )}
                </li>
              );
            })}
          </ul>
        </>
      ))}
      <ErrorNote error={error} />
    </section>
  );
}
