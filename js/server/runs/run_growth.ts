/** What is added to the drafts of a run, so that nothing is sent twice. */
import type { Draft, DraftChange, RunChange, RunReport } from '../../core/run_report.js';

/** Returns what has changed since an earlier report of the same run; the whole report if there was none. */
export function changesOf(before: RunReport | undefined, report: RunReport): RunReport | RunChange {
  if (before?.messageId !== report.messageId) return report;
  const { drafts, ...state } = report;
  const changes = drafts.flatMap((draft, index) => changeOf(before.drafts[index], draft, index));
  return { ...state, changes };
}

function changeOf(before: Draft | undefined, draft: Draft, index: number): DraftChange[] {
  if (before?.event === draft.event && before.endedBy === draft.endedBy) return [];
  const [one, other] = [before, draft].map((each) => each?.event.content?.parts ?? []);
  const [last, grown] = [one!.at(-1)?.text, other!.at(-1)?.text];
  const isGrown =
    before?.endedBy === draft.endedBy &&
    last !== undefined &&
    grown?.startsWith(last) === true &&
    differsInLastText(before!, draft);
  return isGrown ? [{ index, text: grown.slice(last.length) }] : [{ index, draft }];
}

/** Whether two forms of a draft differ in nothing but the text of the last part, and the time. */
function differsInLastText(before: Draft, draft: Draft): boolean {
  const [one, other] = [before, draft].map(({ event }) => {
    const parts = event.content?.parts ?? [];
    const rest = parts.slice(0, -1);
    return JSON.stringify([
      { ...event, timestamp: 0, content: null },
      rest,
      { ...parts.at(-1), text: '' },
    ]);
  });
  return one === other;
}
