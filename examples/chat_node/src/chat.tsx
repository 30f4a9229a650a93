import { type Event, filesOf, type MessageFile, type Part } from 'adk-session-wasm';
import { useArtifact, useSession } from 'adk-session-wasm/react';
import { type FormEvent, useState } from 'react';

/** One conversation, as it is stored now: whoever changes it, this tab or another device. */
export function Chat() {
  const { session, store: chat } = useSession();
  const { status, error, questions, turns, run, unsent, hasOlder, title = 'New chat' } = session;
  const [editing, edit] = useState<Event>();
  const [problem, setProblem] = useState('');

  const attempt = (work: Promise<unknown>): void => {
    setProblem('');
    work.catch((error: unknown) => setProblem(String(error)));
  };
  /** A message shows its own error. */
  const ask = (work: Promise<unknown>): void => void work.catch(() => undefined);

  function send(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const data = new FormData(event.currentTarget);
    event.currentTarget.reset();
    const given = data.getAll('file').filter((file) => file instanceof File);
    // Without a choice, a browser sends an empty file.
    const files = given.filter(({ size }) => size > 0);
    // An edited message keeps its files by their texts.
    const kept = editing ? filesOf(editing).map(({ part }) => editing.content!.parts![part]!) : [];
    const content = { role: 'user', parts: [{ text: String(data.get('text')) }, ...kept] };
    if (editing !== undefined) attempt(chat.edit(editing.id, content, { files }));
    // A message whose files cannot be put is not shown.
    else (files.length > 0 ? attempt : ask)(chat.ask(content, { files }));
    edit(undefined);
  }

  // A draft belongs to its turn: below it may be messages that wait for their own answers.
  const events = [...session.events];
  for (const draft of session.drafts) {
    const at = events.findLastIndex(({ invocationId }) => invocationId === draft.invocationId);
    events.splice(at < 0 ? events.length : at + 1, 0, draft);
  }
  const shown = events.filter((event) => textOf(event) || filesOf(event).length > 0);

  return (
    <main>
      <h1>{title}</h1>
      {hasOlder && <button onClick={() => attempt(chat.loadOlder())}>Earlier messages</button>}
      <div className="messages">
        <ol>
          {shown.map((event, at) => {
            const { id, author, content, invocationId, partial, interrupted } = event;
            const isLast = shown[at + 1]?.invocationId !== invocationId;
            const turn = author === 'user' ? turns[invocationId] : undefined;
            const waiting = unsent[id];
            // Its own refusal, or that of what it waits for: a message that is shown, or the conversation.
            const refusal = waiting?.error ?? waiting?.blockedBy;
            const blocker = shown.find((other) => other.id === waiting?.blockedBy?.eventId);
            const isChangeable = !partial && waiting === undefined;
            const arrow = (sign: string, branch?: string) => (
              <button
                disabled={branch === undefined}
                onClick={() => branch !== undefined && attempt(chat.switchBranch(branch))}
              >
                {sign}
              </button>
            );
            return (
              <li key={id} className={author === 'user' ? 'own' : ''}>
                <p className={partial ? 'draft' : 'stored'}>
                  <b>{author}</b> {textOf(event)}
                  {interrupted && ' (stopped)'}
                </p>
                {filesOf(event).map((file) => (
                  <Attached key={file.part} {...file} />
                ))}
                {author === 'user' && isChangeable && content?.parts?.[0]?.text && (
                  <button onClick={() => edit(event)}>Edit</button>
                )}
                {author !== 'user' && isChangeable && isLast && (
                  <button onClick={() => attempt(chat.regenerate(id))}>Answer again</button>
                )}
                {turn !== undefined && (
                  <span className="turn">
                    {arrow('‹', turn.previous)} {turn.index + 1}/{turn.count}{' '}
                    {arrow('›', turn.next)}
                  </span>
                )}
                {waiting !== undefined && (
                  <span className="unsent">
                    {waiting.blockedBy &&
                      `waits for ${blocker ? `“${textOf(blocker)}”` : 'the conversation'}: `}
                    {refusal === undefined ? 'not sent yet' : String(refusal)}
                    {refusal !== undefined && (
                      <button onClick={() => ask(chat.retry(id))}>Retry</button>
                    )}
                    <button onClick={() => attempt(chat.discard(id))}>Discard</button>
                  </span>
                )}
              </li>
            );
          })}
        </ol>
      </div>
      {questions.map(({ callId, kind, args }) => (
        <p key={callId} className="question">
          {kind}: {JSON.stringify(args)}
          {Object.entries(ANSWERS).map(([value, word]) => (
            <button
              key={word}
              onClick={() => attempt(chat.answer({ [callId]: { confirmed: value === 'true' } }))}
            >
              {word}
            </button>
          ))}
        </p>
      ))}
      {(problem || status === 'failed') && <p role="alert">{problem || String(error)}</p>}
      {(run?.status === 'failed' || run?.status === 'unanswered') && (
        <p role="alert">
          {run.error === undefined ? 'There is no answer.' : String(run.error)}
          <button onClick={() => attempt(chat.regenerate(run.messageId))}>Again</button>
        </p>
      )}
      {status === 'deleted' ? (
        <p role="alert">
          This conversation was deleted. <a href="#">New chat</a>
        </p>
      ) : (
        <form onSubmit={send}>
          <input
            name="text"
            aria-label="Message"
            required
            autoComplete="off"
            key={editing?.id}
            defaultValue={editing && textOf(editing)}
          />
          <label className="clip">
            📎 <input type="file" name="file" aria-label="Files" multiple />
          </label>
          <button>{editing === undefined ? 'Send' : 'Change'}</button>
          {(run?.status === 'running' || run?.status === 'queued') && (
            <button type="button" onClick={() => attempt(chat.cancel())}>
              Stop
            </button>
          )}
        </form>
      )}
    </main>
  );
}

/** A picture under its message, or a link that saves another file. */
function Attached({ name, version, mimeType = '' }: MessageFile) {
  const { url, error } = useArtifact({ name, version });
  if (url === undefined) return <span>{error ? `${name} cannot be opened.` : 'Opening…'}</span>;
  if (/^image\/(?!svg)/.test(mimeType)) return <img src={url} alt={name} />;
  return (
    <a href={url} download={name}>
      {name}
    </a>
  );
}

const ANSWERS: Record<string, string> = { true: 'Yes', false: 'No' };

const partTextOf = ({ text, functionResponse }: Part): string =>
  text ?? ANSWERS[String(functionResponse?.response?.confirmed)] ?? '';

/** What a message says. The texts that stand for its files are left out. */
function textOf(event: Event): string {
  const files = filesOf(event).map(({ part }) => part);
  const parts = event.content?.parts?.filter((_, at) => !files.includes(at));
  return parts?.map(partTextOf).join('') ?? '';
}
