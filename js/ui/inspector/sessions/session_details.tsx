import type { GivenService } from '../../../core/call/given_service.js';
import { exportSession } from '../../../service/files/index.js';
import type { SessionInfo } from '../../../values/model/session_info.js';
import type { SessionService } from '../../../values/model/session_service.js';
import type { LiveSession } from '../../live/index.js';
import { useAction, useStore, useReading } from '../view/hooks.js';
import { Button, ConfirmButton, ErrorNote, Facts, Field, JsonText, Name } from '../view/parts.js';
import { useState, type VNode } from '../view/preact.js';
import { bytesText, timeText } from '../view/text.js';
import { FileList } from './file_list.js';
import { changesOf, labelsText } from './session_filter.js';

/** The forms of a session file, by what reads it. */
const DIALECTS = {
  JavaScript: { casing: 'camel', timeUnit: 'milliseconds' },
  Python: { casing: 'snake', timeUnit: 'seconds' },
} as const;

/** A session's title, labels and times, and what can be done with the whole session. */
export function SessionDetails(props: {
  service: GivenService<SessionService>;
  live: LiveSession;
}): VNode {
  const { service, live } = props;
  const { key } = live;
  const { status, title = '', labels, lastUpdateTime } = useStore(live);
  const { run, isBusy, error } = useAction();
  // What the user has typed and not saved.
  const [typedTitle, setTitle] = useState<string | undefined>(undefined);
  const [typedLabels, setLabels] = useState<string | undefined>(undefined);
  const newTitle = typedTitle ?? title;
  const newLabels = typedLabels ?? labelsText(labels);
  const [info, setInfo] = useState<SessionInfo | undefined>(undefined);
  const save = (event: Event): void => {
    event.preventDefault();
    void run(async () => {
      await (await service).updateSession(key, changesOf(typedTitle, typedLabels));
      await live.reload();
      setTitle(undefined);
      setLabels(undefined);
    });
  };
  const exportAs = (name: keyof typeof DIALECTS): void =>
    void run(async () => {
      const file = await exportSession(await service, key, DIALECTS[name]);
      download(`${safeName(key.sessionId)}.session.json`, JSON.stringify(file, undefined, 2));
    });
  const count = (): void => void run(async () => setInfo(await (await service).sessionInfo(key)));
  // A session whose read failed, as one with a damaged event, can still be deleted.
  const isThere = (status === 'ready' || status === 'failed') && !isBusy;
  return (
    <div>
      <Facts facts={{ ...key, Updated: timeText(lastUpdateTime) }} />
      <form onSubmit={save} aria-label="Title and labels">
        <Field label="Title of the session" value={newTitle} onValue={setTitle} />
        <Field
          label="Labels of the session"
          value={newLabels}
          onValue={setLabels}
          hint="key=value"
        />
        <Button label="Save" isDisabled={!isThere} />
      </form>
      <div class="row">
        {(['JavaScript', 'Python'] as const).map((name) => (
          <Button
            label={`Export for ${name}`}
            isDisabled={!isThere}
            onClick={() => exportAs(name)}
          />
        ))}
        <Button label="Count events and tokens" isDisabled={!isThere} onClick={count} />
        <ConfirmButton
          label="Delete session"
          question="Delete this session?"
          isDisabled={!isThere}
          onConfirm={() => void run(() => live.remove())}
        />
      </div>
      <ErrorNote error={error} />
      <FileList service={service} keyOfSession={key} lastUpdateTime={lastUpdateTime} />
      <BranchList live={live} />
      {info !== undefined && (
        <>
          <p role="status">
            {info.eventCount.toLocaleString('en')} events, {bytesText(info.bytes)}
          </p>
          <JsonText value={info.usage} />
        </>
      )}
    </div>
  );
}

/** Lets the user save a text as a file. */
function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  // Browsers read the file after the click.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Returns an id as a name of a file. */
function safeName(id: string): string {
  return id.replace(/[^\w.-]+/g, '_').slice(0, 80);
}

/** Where the session has other branches: the alternatives of each turn. */
function BranchList({ live }: { live: LiveSession }): VNode | null {
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
