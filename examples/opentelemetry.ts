/**
 * Metrics and spans of OpenTelemetry, made from the diagnostics of a service. Give the result to the
 * option `onDiagnostic`.
 */
import { type Meter, SpanStatusCode, type Tracer } from '@opentelemetry/api';
import type { Diagnostic } from 'adk-session-wasm';

export function openTelemetryListener(
  meter: Meter,
  tracer: Tracer,
): (diagnostic: Diagnostic) => void {
  const durations = meter.createHistogram('adk.session.call.duration', { unit: 'ms' });
  const groupSizes = meter.createHistogram('adk.session.append.group_size');
  const retryCount = meter.createCounter('adk.session.call.retries');
  const lostConnections = meter.createCounter('adk.session.connections.lost');
  return (diagnostic) => {
    const { storage, code = 'ok' } = diagnostic;
    if (diagnostic.kind !== 'call') {
      if (diagnostic.kind === 'connection') lostConnections.add(1, { storage, code });
      return;
    }
    const { method, durationMs, retries, groupSize, rows } = diagnostic;
    durations.record(durationMs, { method, storage, code });
    if (groupSize !== undefined) groupSizes.record(groupSize, { method, storage });
    if (retries > 0) retryCount.add(retries, { method, storage });
    // The listener is called when the call has settled, so the span is made afterwards.
    const end = Date.now();
    const attributes = { storage, ...(rows !== undefined && { rows }) };
    const span = tracer.startSpan(`session.${method}`, { startTime: end - durationMs, attributes });
    if (code !== 'ok') span.setStatus({ code: SpanStatusCode.ERROR, message: code });
    span.end(end);
  };
}
