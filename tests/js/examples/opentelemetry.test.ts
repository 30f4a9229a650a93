import assert from 'node:assert/strict';
import { it } from 'node:test';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';

import { openTelemetryListener } from '../../../examples/opentelemetry.js';
import { InMemorySessionService } from '../../../js/index.js';
import { failure, KEY, says } from '../service/fixture.js';

it('The example of OpenTelemetry records durations, group sizes and spans, with codes', async () => {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter });
  const meters = new MeterProvider({ readers: [reader] });
  const spans = new InMemorySpanExporter();
  const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
  const onDiagnostic = openTelemetryListener(meters.getMeter('test'), tracers.getTracer('test'));
  const service = new InMemorySessionService({ onDiagnostic });
  const session = await service.createSession(KEY);
  await service.appendEvent({ session, event: says('hello') });
  await failure(service.createSession(KEY), 'already_exists');
  onDiagnostic({
    kind: 'call',
    storage: 'postgresql',
    method: 'ping',
    durationMs: 1,
    retries: 2,
    code: 'storage_blocked',
  });
  onDiagnostic({ kind: 'connection', storage: 'postgresql', code: 'connection_lost' });

  assert.deepEqual(
    spans.getFinishedSpans().map(({ name, status }) => [name, status.message]),
    [
      ['session.createSession', undefined],
      ['session.appendEvent', undefined],
      ['session.createSession', 'already_exists'],
      ['session.ping', 'storage_blocked'],
    ],
  );
  await meters.forceFlush();
  const metrics = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics[0]!.metrics);
  const points = metrics.map(({ descriptor, dataPoints }) => [
    descriptor.name,
    dataPoints.map(({ attributes }) => attributes.code ?? attributes.method),
  ]);
  assert.deepEqual(points, [
    ['adk.session.call.duration', ['ok', 'ok', 'already_exists', 'storage_blocked']],
    ['adk.session.append.group_size', ['appendEvent']],
    ['adk.session.call.retries', ['ping']],
    ['adk.session.connections.lost', ['connection_lost']],
  ]);
  await Promise.all([meters.shutdown(), tracers.shutdown()]);
});
