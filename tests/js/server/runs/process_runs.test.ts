// The channels of a process, as its runs use them. A link that notes what is sent stands for a channel.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import type { RunReport } from '../../../../js/core/run_report.js';
import type { ProcessLink } from '../../../../js/core/watch/process_link.js';
import {
  TabChannel,
  type TabKind,
  type TabListener,
} from '../../../../js/core/watch/tab_channel.js';
import { AnswerReports } from '../../../../js/server/feed/answer_stream.js';
import { RunFeed } from '../../../../js/server/feed/run_feed.js';
import { takeSettings } from '../../../../js/server/handler_options.js';
import { ProcessRuns, processRunsOf } from '../../../../js/server/runs/process_runs.js';
import type { RunMessage } from '../../../../js/server/runs/run_messages.js';
import { ServerRuns } from '../../../../js/server/runs/server_runs.js';
import { InMemorySessionService } from '../../../../js/index.js';
import { echo } from '../../ui/live/runs/agents.js';
import { KEY } from '../fixture.js';

/** A link, what is sent over it, and its end. */
function newLink() {
  const sent: string[] = [];
  const listeners: (() => void)[] = [];
  const channel = new TabChannel();
  const link: ProcessLink = {
    tellsDrafts: true,
    isUsed: true,
    onRelease: (run) => void listeners.push(run),
    port<Message>(kind: TabKind<Message>, listener: TabListener<Message>) {
      const port = channel.port(kind, listener);
      port.send = (messages) =>
        void sent.push(...(messages as readonly RunMessage[]).map(({ type }) => type));
      return port;
    },
    listening: () => () => false,
  };
  const release = (): void => listeners.forEach((run) => run());
  return { link, sent, release };
}

const report: RunReport = {
  ...KEY,
  messageId: 'm1',
  invocationId: 'i',
  status: 'running',
  drafts: [],
  wholes: [],
};

describe('The runs of a process', () => {
  it('tell the others the user of a feed, and not that of the stream of an answer', () => {
    const service = new InMemorySessionService();
    const { link, sent } = newLink();
    processRunsOf(service).join(link);
    const settings = takeSettings({ authorize: () => true, run: echo });
    const runs = new ServerRuns({ ...settings, service, agent: echo });
    const reports = new AnswerReports(runs, { ...KEY, messageId: 'm1' }, false);
    assert.deepEqual(sent, ['tell']);
    const { appName, userId } = KEY;
    const feed = new RunFeed(runs, { appName, userId }, false, () => undefined);
    assert.deepEqual(sent, ['tell', 'feeds']);
    feed.end();
    reports.end();
  });

  it('go over its next channel when one is released, and end with the last one', () => {
    const runs = new ProcessRuns();
    const [one, two] = [newLink(), newLink()];
    runs.join(one.link);
    runs.join(two.link);
    runs.tell(report);
    assert.deepEqual([one.sent, two.sent], [['tell', 'run'], []]);
    one.release();
    assert.deepEqual([one.sent.includes('closed'), two.sent], [false, ['tell']]);
    runs.tell(report);
    two.release();
    assert.deepEqual(two.sent, ['tell', 'run', 'closed']);
  });

  it('stay on the channel that they use when another one is released', () => {
    const runs = new ProcessRuns();
    const [one, two] = [newLink(), newLink()];
    runs.join(one.link);
    runs.join(two.link);
    runs.tell(report);
    two.release();
    runs.tell({ ...report, status: 'ended' });
    assert.deepEqual([one.sent, two.sent], [['tell', 'run', 'run'], []]);
  });
});
