import { html, type Html } from '../../../report-kit/html.ts';
import type { SdkSettings } from '../../exporters/sdk-settings.ts';
import type { IngestLogEntry } from '../../store/store.ts';
import { linkTo, renderServicePage, type PageContext } from '../frame/page-frame.ts';
import { renderSdkSettings } from './sdk-settings.ts';

/** Path of the page about exporters. */
export const EXPORTERS_PATH = '/exporters';

/** What the settings of exporters depend on. */
export interface Exporters {
  /** Lower-case name of the header that carries the API key. */
  apiKeyHeader: string;
  /** What SDKs need so that the service can read their traces. */
  sdkSettings: readonly SdkSettings[];
  /** Entries of the ingest log, which name the SDKs that sent unreadable traces. */
  log: readonly Pick<IngestLogEntry, 'about'>[];
}

/** Renders the page about exporters. A service without data has its content on the overview. */
export const renderExportersPage = (exporters: Exporters, context: PageContext): string =>
  renderServicePage(
    {
      title: 'Send traces',
      section: 'Overview',
      css: EXPORTERS_CSS,
      main: html`<h1>Send traces to this service</h1>
        ${renderExporters(exporters, context)}`,
    },
    context,
  );

const CHAT_ATTRIBUTES = `gen_ai.operation.name   chat
gen_ai.conversation.id  order-1234
gen_ai.input.messages   [{"role":"user","parts":[{"type":"text","content":"Where is it?"}]}]
gen_ai.output.messages  [{"role":"assistant","parts":[{"type":"text","content":"On its way."}]}]`;

/** Renders the settings of exporters and SDKs, without the key. */
export function renderExporters(
  { apiKeyHeader, sdkSettings, log }: Exporters,
  context: PageContext,
): Html {
  const { serviceUrl } = context;
  return html`<p>
      For an OpenTelemetry SDK, set these variables. KEY is an API key:
      <a href="${linkTo(context, '/keys')}">generate one</a>, or use the one that the service
      printed at its start.
    </p>
    <pre>
OTEL_EXPORTER_OTLP_ENDPOINT=${serviceUrl}
OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
OTEL_EXPORTER_OTLP_HEADERS=${apiKeyHeader}=KEY</pre>
    <p>
      Set <code>gen_ai.conversation.id</code> on the spans of a conversation, and close it with
      <code>POST /v1/sessions/CONVERSATION_ID/end</code> after its last span.
    </p>
    <p>
      <b>Spans you write yourself.</b>
      Each model call is a span with these attributes. The messages are text that contains JSON:
    </p>
    <pre>${CHAT_ATTRIBUTES}</pre>
    ${renderSdkSettings(sdkSettings, log)}`;
}

/** CSS rules of the settings of exporters. */
export const EXPORTERS_CSS = `
.nested { margin-left: 1rem; }
`;
