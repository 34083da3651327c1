import { schemas } from './generated/schemas.ts';
import { contractVersion } from './generated/version.ts';
import { SchemaComponents, type JsonSchema } from './json-schema.ts';
import { voiceChannel, type VoiceMessage } from './routes/voice-channel.ts';

/** Values of a running sandbox that replace the defaults in the document in `schemas/`. */
export interface AsyncApiOptions {
  /** Host and port of the sandbox. */
  host?: string;
  /** Whether the sandbox serves TLS. The interface requires it. */
  isSecure?: boolean;
}

/** An AsyncAPI 3 document. */
export interface AsyncApiDocument {
  asyncapi: string;
  info: object;
  defaultContentType: string;
  servers: object;
  channels: Record<string, object>;
  operations: Record<string, object>;
  components: {
    securitySchemes: object;
    messages: Record<string, object>;
    schemas: Record<string, JsonSchema>;
  };
}

const messages: readonly VoiceMessage[] = voiceChannel.messages;

/** The descriptions and examples of messages. Every message of the WebSocket has a `type`. */
const describedMessages = schemas as unknown as Readonly<
  Record<
    VoiceMessage['name'],
    { description: string; properties: { type: { const: string } }; examples: unknown[] }
  >
>;

const INFO_DESCRIPTION =
  'The voice WebSocket that a customer hosts in a sandbox and that the evaluation service opens for a call (area ' +
  'B of the interface, spec 4.9 and 6). `send` and `receive` are from the point of view of the sandbox. Media ' +
  'uses WebRTC with DTLS. `x-extension: true` marks a message that is not in the specification. The specification ' +
  'defines no order of messages after `start_call` and `call_ready`. A sandbox ignores messages of unknown types.';

const CHANNEL_DESCRIPTION =
  'One call per WebSocket. The service sends `start_call`, the sandbox responds with `call_ready`, and media ' +
  'flows after the WebRTC answer. Closing the WebSocket ends the call. The specification leaves the close codes ' +
  'open. The reference agent uses 1000 (end), 1001 (stopping), 1002 (out of order), 1003 (binary frame), 1007 ' +
  '(invalid), 1008 (too many messages), 1011 (failure), 4406 (unsupported codec), 4408 (timeout), and 4429 (too ' +
  'many calls).';

/** Creates the AsyncAPI document of the voice WebSocket from its messages and their schemas. */
export function createAsyncApi(options: AsyncApiOptions = {}): AsyncApiDocument {
  const components = new SchemaComponents();
  const componentMessages = Object.fromEntries(
    messages.map((message) => [message.name, describeMessage(message, components)]),
  );
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Voice WebSocket of an agent sandbox',
      version: contractVersion,
      description: INFO_DESCRIPTION,
      contact: { name: 'sandbox-kit' },
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
      tags: [{ name: 'voice', description: 'Calls with the agent.' }],
    },
    defaultContentType: 'application/json',
    servers: { sandbox: describeServer(options) },
    channels: { voice: describeChannel() },
    operations: Object.fromEntries(
      messages.map((message) => [message.operation, describeOperation(message)]),
    ),
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'The key that the customer gave the service (spec 5).',
        },
      },
      messages: componentMessages,
      schemas: components.list(),
    },
  };
}

function describeServer({ host, isSecure = true }: AsyncApiOptions): object {
  const variable = {
    default: '127.0.0.1:8080',
    description: 'Host and port of the sandbox; the default is the address of `sandbox-kit agent`.',
  };
  return {
    host: host ?? '{sandbox_host}',
    protocol: isSecure ? 'wss' : 'ws',
    description: 'The sandbox. The interface requires TLS; `sandbox-kit agent` also serves ws.',
    ...(host === undefined && { variables: { sandbox_host: variable } }),
    security: [{ $ref: '#/components/securitySchemes/bearer' }],
  };
}

function describeChannel(): object {
  const headers = {
    type: 'object',
    required: ['Sec-WebSocket-Protocol'],
    properties: {
      'Sec-WebSocket-Protocol': {
        description: 'The subprotocol of the interface (spec 4.9).',
        type: 'string',
        const: voiceChannel.protocol,
      },
      Authorization: {
        description: 'Bearer and the key of the sandbox.',
        type: 'string',
        pattern: '^Bearer .+$',
      },
    },
  };
  return {
    address: voiceChannel.path,
    title: 'Voice',
    summary: 'The signaling of calls',
    description: CHANNEL_DESCRIPTION,
    servers: [{ $ref: '#/servers/sandbox' }],
    messages: Object.fromEntries(
      messages.map(({ name }) => [name, { $ref: `#/components/messages/${name}` }]),
    ),
    bindings: { ws: { method: 'GET', headers, bindingVersion: '0.1.0' } },
  };
}

function describeOperation({ name, sender, summary, isExtension }: VoiceMessage): object {
  return {
    action: sender === 'sandbox' ? 'send' : 'receive',
    title: name,
    summary: `${summary}.`,
    description: describedMessages[name].description,
    ...(isExtension && { 'x-extension': true }),
    channel: { $ref: '#/channels/voice' },
    messages: [{ $ref: `#/channels/voice/messages/${name}` }],
  };
}

function describeMessage(
  { name, summary, isExtension }: VoiceMessage,
  components: SchemaComponents,
): object {
  const { description, properties, examples } = describedMessages[name];
  return {
    name: properties.type.const,
    title: name,
    summary: `${summary}.`,
    description,
    contentType: 'application/json',
    ...(isExtension && { 'x-extension': true }),
    payload: components.refer(name),
    examples: examples.map((payload, index) => ({ name: `example${index + 1}`, payload })),
  };
}
