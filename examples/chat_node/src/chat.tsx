import { type Event, filesOf, type MessageFile } from 'adk-session-wasm';
import { errorText, shownOf } from 'adk-session-wasm/live';
import { useArtifact, useSession } from 'adk-session-wasm/react';
import { type FormEvent, useRef, useState } from 'react';

/** One conversation, as it is stored now: whoever changes it, this tab or another device. */
export function Chat() {
  const { session, store: chat } = useSession();
  const { status, error, questions, turns, run, unsent, hasOlder, title = 'New chat' } = session;
  const [editing, edit] = useState<Event>();
  const [problem, setProblem] = useState('');
  const [isSending, setSending] = useState(false);
  const field = useRef<HTMLInputElement>(null);

  const attempt = (work: Promise<unknown>): void => {
    setProblem('');
    work.catch((error: unknown) => setProblem(errorText(error)));
  };
  const beginEdit = (message: Event): void => {
    edit(message);
    if (field.current) field.current.value = shownOf(message).text;
  };
  /** A message shows its own error. */
  const ask = (work: Promise<unknown>): void => void work.catch(() => undefined);

  function send(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const form = event.currentTarget;
    const data = new FormData(form);
    const given = data.getAll('file').filter((file) => file instanceof File);
    // Without a choice, a browser sends an empty file.
    const files = given.filter(({ size }) => size > 0);
    // An edited message keeps its files by their texts.
    const kept = editing ? filesOf(editing).map(({ part }) => editing.content!.parts![part]!) : [];
    const text = String(data.get('text'));
    const content = { role: 'user', parts: [{ text }, ...kept] };
    // What was typed, or begun to be edited, since it was sent stays.
    const empty = () => {
      const typed = field.current?.value;
      form.reset();
      if (field.current && typed && typed !== text) field.current.value = typed;
      edit((edited) => (edited === editing ? undefined : edited));
    };
    // A message without files is shown at once, also if it is refused.
    if (editing === undefined && files.length === 0) {
      ask(chat.ask(content));
      return empty();
    }
    // Until then the form keeps what was typed: an edit may be refused, and files may be too large.
    setSending(true);
    const sent = editing ? chat.edit(editing.id, content, { files }) : chat.ask(content, { files });
    attempt(sent.then(empty).finally(() => setSending(false)));
  }

  // A draft belongs to its turn: below it may be messages that wait for their own answers.
  const events = [...session.events];
  for (const draft of session.drafts) {
    const at = events.findLastIndex(({ invocationId }) => invocationId === draft.invocationId);
    events.splice(at < 0 ? events.length : at + 1, 0, draft);
  }
  // The error of the last run stands below the messages.
  const failed = run?.status === 'failed' ? session.events.at(-1) : undefined;
  const shown = events.filter((event) => {
    const { isEmpty, error } = shownOf(event);
    return !isEmpty || answerOf(event) || (error && event !== failed);
  });

  return (
    <main>
      <h1>{title}</h1>
      {hasOlder && <button onClick={() => attempt(chat.loadOlder())}>Earlier messages</button>}
      <div className="messages">
        <ol>
          {shown.map((event, at) => {
            const { id, author, invocationId, partial, interrupted } = event;
            const { text, files, error } = shownOf(event);
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
                  <b>{author}</b> {text || answerOf(event)}
                  {interrupted && ' (stopped)'}
                  {error && <em>{error.message}</em>}
                </p>
                {files.map((file) => (
                  <Attached key={file.part} {...file} />
                ))}
                {author === 'user' && isChangeable && text && (
                  <button onClick={() => beginEdit(event)}>Edit</button>
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
                      `waits for ${blocker ? `“${shownOf(blocker).text}”` : 'the conversation'}: `}
                    {refusal === undefined ? 'not sent yet' : errorText(refusal)}
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
      {(problem || status === 'failed') && <p role="alert">{problem || errorText(error)}</p>}
      {(run?.status === 'failed' || run?.status === 'unanswered') && (
        <p role="alert">
          {run.status === 'failed' ? errorText(run.error) : 'There is no answer.'}{' '}
          <button onClick={() => attempt(chat.regenerate(run.messageId))}>Again</button>
        </p>
      )}
      {status === 'deleted' ? (
        <p role="alert">
          This conversation was deleted. <a href="#">New chat</a>
        </p>
      ) : (
        <form onSubmit={send}>
          <input name="text" aria-label="Message" required autoComplete="off" ref={field} />
          <label className="clip">
            📎 <input type="file" name="file" aria-label="Files" multiple disabled={isSending} />
          </label>
          <button disabled={isSending}>{editing === undefined ? 'Send' : 'Change'}</button>
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

/** What the user has answered to the question of a tool. */
function answerOf({ content }: Event): string | undefined {
  const answers = content?.parts?.map(({ functionResponse }) => functionResponse?.response);
  return answers?.map((answer) => ANSWERS[String(answer?.confirmed)]).find(Boolean);
}
