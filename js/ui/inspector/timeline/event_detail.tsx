import type { Event } from '../../../values/model/event/event.js';
import { partsOf } from '../../../values/model/event/parts.js';
import { shownOf } from '../../../values/model/event/shown.js';
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
import { useState, type VNode } from '../view/preact.js';
import { clip, textOf, timeText } from '../view/text.js';
import { shownName } from './event_summary.js';

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
  const { error: failure } = shownOf(event);
  return (
    <div>
      <h2>
        <bdi>{clip(author, 200) || 'unknown'}</bdi>
      </h2>
      <Facts
        facts={{
          Time: timeText(timestamp),
          Event: id,
          Invocation: invocationId,
          Branch: branch,
          Model: modelVersion,
        }}
      />
      {failure !== undefined && <p class="error">{clip(failure.message, 2000)}</p>}
      {partsOf(event).map((part) => (
        <PartView part={part} />
      ))}
      <Changes delta={event.actions?.stateDelta ?? {}} onShowKey={onShowKey} />
      <div class="row">
        <Button label="Whole event as JSON" isExpanded={isRaw} onClick={() => setRaw(!isRaw)} />
        <ConfirmButton
          label="Rewind to before this turn"
          question="Undo this turn and all later ones?"
          isDisabled={isBusy}
          onConfirm={() => void run(() => onRewind(id))}
        />
      </div>
      <ErrorNote error={error} />
      {isRaw && <JsonText value={event} />}
    </div>
  );
}

type Part = NonNullable<NonNullable<Event['content']>['parts']>[number];

function PartView({ part }: { part: Part }): VNode {
  const { text, thought, functionCall, functionResponse, ...rest } = part;
  return (
    <div class="part">
      {text !== undefined && thought === true && <h3>Thought</h3>}
      {text !== undefined && <LongText text={textOf(text)} />}
      {functionCall && (
        <>
          <h3>
            <bdi>→ calls {shownName(functionCall, 200)}</bdi>
          </h3>
          <JsonText value={functionCall.args ?? {}} />
        </>
      )}
      {functionResponse && (
        <>
          <h3>
            <bdi>← result of {shownName(functionResponse, 200)}</bdi>
          </h3>
          <JsonText value={functionResponse.response ?? {}} />
        </>
      )}
      {Object.keys(rest).length > 0 && <JsonText value={rest} />}
    </div>
  );
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
  return (
    <div class="changes">
      <h3>Changes</h3>
      {Object.entries(TITLES).map(([scope, title]) => {
        const items = keys.filter((key) => storedScopeOf(key) === scope);
        if (items.length === 0) return null;
        return (
          <section aria-label={title}>
            <h4>{title}</h4>
            <Items<string> items={items}>
              {(key) => (
                <li key={key}>
                  <div class="row">
                    <Name name={key} />
                    <Button
                      label="History"
                      spoken={`History of ${clip(key, 60)}`}
                      onClick={() => onShowKey(key)}
                    />
                  </div>
                  {delta[key] === REMOVED ? (
                    <p class="muted">removed</p>
                  ) : (
                    <JsonText value={delta[key]} />
                  )}
                </li>
              )}
            </Items>
          </section>
        );
      })}
    </div>
  );
}
