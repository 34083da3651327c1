import { diag, DiagLogLevel, type Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  SimpleSpanProcessor,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import type { Test } from 'tap';
import type { RunningService } from '../../../src/service/index.ts';

/** The exporters of OpenTelemetry in their most common configuration. */
export const exporters = ['OTLP/JSON', 'OTLP/protobuf with gzip'] as const;

/** How spans are sent. */
export interface ExportOptions {
  exporter?: (typeof exporters)[number];
  /** Sent as X-Conversation-Id. */
  conversationId?: string;
  resource?: Record<string, string>;
  /** Sends each span alone when it ends, and not many together. */
  isSimple?: boolean;
  /** Returns an exporter that sends with the given one, for example in another order. */
  wrap?: (exporter: SpanExporter) => SpanExporter;
}

/** An OpenTelemetry SDK that exports to a service. */
export interface TestExporter {
  provider: BasicTracerProvider;
  tracer: Tracer;
  /** Exports all ended spans; rejects if the export failed. */
  flush: () => Promise<void>;
}

/** Sets up the SDK, and shuts it down after the test. */
export function startExporter(
  t: Test,
  { url, apiKey }: Pick<RunningService, 'url' | 'apiKey'>,
  {
    exporter = 'OTLP/JSON',
    conversationId,
    resource = {},
    isSimple = false,
    wrap = (inner) => inner,
  }: ExportOptions = {},
): TestExporter {
  const settings = {
    url: `${url}/v1/traces`,
    headers: {
      'x-service-api-key': apiKey,
      ...(conversationId !== undefined && { 'x-conversation-id': conversationId }),
    },
  };
  // The type wants an enum that the exporter package does not export.
  const zipped: object = { ...settings, compression: 'gzip' };
  const sender = wrap(
    exporter === 'OTLP/JSON' ? new JsonExporter(settings) : new ProtobufExporter(zipped),
  );
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'shop', ...resource }),
    spanProcessors: [isSimple ? new SimpleSpanProcessor(sender) : new BatchSpanProcessor(sender)],
  });
  t.teardown(() => provider.shutdown());
  return {
    provider,
    tracer: provider.getTracer('test'),
    flush: () => provider.forceFlush(),
  };
}

/**
 * Collects the diagnostics of OpenTelemetry from level info, at which exporters report that they gave
 * up. The list covers the whole process, which has only one diagnostics logger.
 */
export function collectDiagnostics(): string[] {
  const messages: string[] = [];
  const collect = (...parts: unknown[]): void => void messages.push(parts.map(String).join(' '));
  const discard = (): void => {};
  const logger = { verbose: discard, debug: discard, info: collect, warn: collect, error: collect };
  diag.setLogger(logger, { logLevel: DiagLogLevel.INFO, suppressOverrideMessage: true });
  return messages;
}
