import { diag, DiagLogLevel, type Tracer } from '@opentelemetry/api';
import { OTLPTraceExporter as JsonExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as ProtobufExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import type { Test } from 'tap';
import type { RunningService } from '../../src/service/index.ts';

/** OpenTelemetry's own exporters, each as it is used most. */
export const exporters = ['OTLP/JSON', 'OTLP/protobuf with gzip'] as const;

/** How spans are sent. */
export interface ExportOptions {
  exporter?: (typeof exporters)[number];
  /** Sent as X-Conversation-Id. */
  conversationId?: string;
  resource?: Record<string, string>;
}

/** An OpenTelemetry SDK that sends to a service. */
export interface TestExporter {
  provider: BasicTracerProvider;
  tracer: Tracer;
  /** Sends what has ended; rejects when it could not be sent. */
  flush: () => Promise<void>;
}

/** Sets the SDK up with a BatchSpanProcessor; it ends with the test. */
export function startExporter(
  t: Test,
  { url, apiKey }: Pick<RunningService, 'url' | 'apiKey'>,
  { exporter = 'OTLP/JSON', conversationId, resource = {} }: ExportOptions = {},
): TestExporter {
  const settings = {
    url: `${url}/v1/traces`,
    headers: {
      'x-service-api-key': apiKey,
      ...(conversationId !== undefined && { 'x-conversation-id': conversationId }),
    },
  };
  // The enum that it wants is exported by a package below the exporter's.
  const zipped: object = { ...settings, compression: 'gzip' };
  const provider = new BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'shop', ...resource }),
    spanProcessors: [
      new BatchSpanProcessor(
        exporter === 'OTLP/JSON' ? new JsonExporter(settings) : new ProtobufExporter(zipped),
      ),
    ],
  });
  t.teardown(() => provider.shutdown());
  return {
    provider,
    tracer: provider.getTracer('test'),
    flush: () => provider.forceFlush(),
  };
}

/**
 * What OpenTelemetry's parts complain about, from info on: at that level exporters say that they
 * gave up. One list for the whole process, as there is one listener.
 */
export function collectDiagnostics(): string[] {
  const heard: string[] = [];
  const hear = (...toMessagesJson: unknown[]): void =>
    void heard.push(toMessagesJson.map(String).join(' '));
  const nothing = (): void => {};
  const listener = { verbose: nothing, debug: nothing, info: hear, warn: hear, error: hear };
  diag.setLogger(listener, { logLevel: DiagLogLevel.INFO, suppressOverrideMessage: true });
  return heard;
}

/** `gen_ai.*` messages as one of these roles with one text. */
export function said(role: 'user' | 'assistant', content: string): string {
  return JSON.stringify([{ role, parts: [{ type: 'text', content }] }]);
}
