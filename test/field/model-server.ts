/** A stand-in for the HTTP API of a model, without randomness. */
import { createServer, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import type { Test } from 'tap';
import { startLocally } from '../support/network/local-server.ts';

/** What the user says, and what the model answers after the tool call. */
export const dialog = [
  { question: 'Where is order A-17?', answer: 'It has shipped.' },
  { question: 'Thanks for the help!', answer: 'You are welcome.' },
] as const;

const CALL = { id: 'call_1', name: 'find_order', arguments: JSON.stringify({ order_id: 'A-17' }) };

/** What the model does: it calls the tool for the first question, and otherwise says something. */
type Action = { text: string } | { call: typeof CALL };

/**
 * Starts a server for OpenAI chat completions and responses and Gemini's generateContent, streamed or
 * not. Stops it after the test.
 */
export async function startModelServer(t: Test): Promise<string> {
  const server = createServer((request, response) => {
    void readText(request).then((text) => {
      const body = JSON.parse(text === '' ? '{}' : text) as ModelRequest;
      respond(request.url ?? '', body, response);
    });
  });
  return startLocally(t, server);
}

interface ModelRequest {
  stream?: boolean;
  messages?: unknown[];
  input?: unknown;
  contents?: unknown[];
}

function respond(path: string, body: ModelRequest, response: ServerResponse): void {
  const isStream = body.stream === true || path.includes('streamGenerateContent');
  const events = path.includes('/chat/completions')
    ? describeCompletion(decide(body.messages), isStream)
    : path.includes('/responses')
      ? describeResponse(decide(body.input), isStream)
      : path.includes('enerateContent')
        ? [describeContent(decide(body.contents))]
        : undefined;
  if (!events) {
    response.writeHead(404).end(`{"error":{"message":"The stand-in has no ${path}"}}`);
    return;
  }
  if (!isStream) {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(events[0]));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    const { type } = event as { type?: string };
    if (type !== undefined) response.write(`event: ${type}\n`);
    response.write(`data: ${JSON.stringify(event)}\n\n`);
  }
  response.end(path.includes('/chat/completions') ? 'data: [DONE]\n\n' : undefined);
}

/** Decides from the last message or item: a tool result, the first question, or anything else. */
function decide(messages: unknown): Action {
  const last = JSON.stringify(Array.isArray(messages) ? messages.at(-1) : messages);
  if (/"role":"tool"|function_call_output|functionResponse/.test(last)) {
    return { text: dialog[0].answer };
  }
  return last.includes(dialog[0].question) ? { call: CALL } : { text: dialog[1].answer };
}

const MODEL = 'model-1';

function describeCompletion(action: Action, isStream: boolean): object[] {
  const { id, ...call } = CALL;
  const message =
    'text' in action
      ? { role: 'assistant', content: action.text }
      : {
          role: 'assistant',
          content: null,
          tool_calls: [{ ...(isStream && { index: 0 }), id, type: 'function', function: call }],
        };
  const finish = 'text' in action ? 'stop' : 'tool_calls';
  const usage = { prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 };
  const shared = { id: 'completion-1', created: 1_795_168_800, model: MODEL };
  if (!isStream) {
    const choices = [{ index: 0, message, finish_reason: finish, logprobs: null }];
    return [{ ...shared, object: 'chat.completion', choices, usage }];
  }
  const chunk = (choices: object[], more = {}): object => ({
    ...shared,
    object: 'chat.completion.chunk',
    choices,
    ...more,
  });
  return [
    chunk([{ index: 0, delta: message, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason: finish }]),
    chunk([], { usage }),
  ];
}

function describeResponse(action: Action, isStream: boolean): object[] {
  const item =
    'text' in action
      ? {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [{ type: 'output_text', text: action.text, annotations: [], logprobs: [] }],
        }
      : {
          id: 'fc_1',
          type: 'function_call',
          status: 'completed',
          call_id: CALL.id,
          name: CALL.name,
          arguments: CALL.arguments,
        };
  const response = {
    id: 'resp_1',
    object: 'response',
    created_at: 1_795_168_800,
    model: MODEL,
    status: 'completed',
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: 'auto',
    tools: [],
    top_p: 1,
    output: [item],
    usage: {
      input_tokens: 11,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 7,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 18,
    },
  };
  if (!isStream) return [response];
  const place = { item_id: item.id, output_index: 0 };
  const parts =
    'text' in action
      ? [
          {
            type: 'response.content_part.added',
            ...place,
            content_index: 0,
            part: { type: 'output_text', text: '', annotations: [] },
          },
          {
            type: 'response.output_text.delta',
            ...place,
            content_index: 0,
            delta: action.text,
            logprobs: [],
          },
          {
            type: 'response.output_text.done',
            ...place,
            content_index: 0,
            text: action.text,
            logprobs: [],
          },
        ]
      : [
          { type: 'response.function_call_arguments.delta', ...place, delta: CALL.arguments },
          {
            type: 'response.function_call_arguments.done',
            ...place,
            name: CALL.name,
            arguments: CALL.arguments,
          },
        ];
  const started = 'text' in action ? { ...item, content: [] } : { ...item, arguments: '' };
  return [
    {
      type: 'response.created',
      response: { ...response, status: 'in_progress', output: [], usage: null },
    },
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { ...started, status: 'in_progress' },
    },
    ...parts,
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response },
  ].map((event, index) => ({ ...event, sequence_number: index }));
}

function describeContent(action: Action): object {
  const part =
    'text' in action
      ? { text: action.text }
      : { functionCall: { name: CALL.name, args: JSON.parse(CALL.arguments) as object } };
  return {
    candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 11, candidatesTokenCount: 7, totalTokenCount: 18 },
    modelVersion: MODEL,
    responseId: 'response-1',
  };
}
