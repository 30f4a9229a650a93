import type { Event } from 'adk-session-wasm';
import { useSession } from 'adk-session-wasm/react';
import { type FormEvent, useState } from 'react';

/** One conversation, as it is stored now: whoever changes it, this tab or another device. */
export function Chat() {
  const { session, store: chat } = useSession();
  const { events, drafts, questions, turns, run, unsent, hasOlder, title = 'New chat' } = session;
  const [editing, edit] = useState<Event>();
  const [problem, setProblem] = useState('');

  const attempt = (work: Promise<unknown>): void => {
    setProblem('');
    work.catch((error: unknown) => setProblem(String(error)));
  };

  function send(event: FormEvent<HTMLFormElement>): void {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get('text'));
    event.currentTarget.reset();
    const content = { role: 'user', parts: [{ text }] };
    attempt(editing === undefined ? chat.ask(content) : chat.edit(editing.id, content));
    edit(undefined);
  }

  const shown = [...events, ...drafts].filter(textOf);
  return (
    <main>
      <h1>{title}</h1>
      {hasOlder && <button onClick={() => attempt(chat.loadOlder())}>Earlier messages</button>}
      <ol>
        {shown.map((event, at) => {
          const { id, author, invocationId, partial, interrupted } = event;
          const isLast = shown[at + 1]?.invocationId !== invocationId;
          const turn = author === 'user' ? turns[invocationId] : undefined;
          const isChangeable = !partial && unsent[id] === undefined;
          const arrow = (sign: string, branch?: string) => (
            <button
              disabled={branch === undefined}
              onClick={() => branch !== undefined && attempt(chat.switchBranch(branch))}
            >
              {sign}
            </button>
          );
          return (
            <li key={id}>
              <span className={partial ? 'draft' : 'stored'}>
                <b>{author}</b> {textOf(event)}
                {interrupted && ' (stopped)'}
              </span>
              {author === 'user' && isChangeable && (
                <button onClick={() => edit(event)}>Edit</button>
              )}
              {author !== 'user' && isChangeable && isLast && (
                <button onClick={() => attempt(chat.regenerate(id))}>Answer again</button>
              )}
              {turn !== undefined && (
                <span className="turn">
                  {arrow('‹', turn.previous)} {turn.index + 1}/{turn.count} {arrow('›', turn.next)}
                </span>
              )}
            </li>
          );
        })}
      </ol>
      {questions.map(({ callId, kind, args }) => (
        <p key={callId} className="question">
          {kind}: {JSON.stringify(args)}
          {[true, false].map((confirmed) => (
            <button
              key={String(confirmed)}
              onClick={() => attempt(chat.answer({ [callId]: { confirmed } }))}
            >
              {confirmed ? 'Yes' : 'No'}
            </button>
          ))}
        </p>
      ))}
      {problem && <p role="alert">{problem}</p>}
      {(run?.status === 'failed' || run?.status === 'unanswered') && (
        <p role="alert">
          {run.error === undefined ? 'There is no answer.' : String(run.error)}
          <button onClick={() => attempt(chat.regenerate(run.messageId))}>Again</button>
        </p>
      )}
      <form onSubmit={send}>
        <input
          name="text"
          aria-label="Message"
          required
          autoComplete="off"
          key={editing?.id}
          defaultValue={editing && textOf(editing)}
        />
        <button>{editing === undefined ? 'Send' : 'Change'}</button>
        {(run?.status === 'running' || run?.status === 'queued') && (
          <button type="button" onClick={() => attempt(chat.cancel())}>
            Stop
          </button>
        )}
      </form>
    </main>
  );
}

const textOf = ({ content }: Event): string =>
  content?.parts?.map(({ text = '' }) => text).join('') ?? '';
