import { formatValue } from '../../../src/contract/index.ts';
import { checkEach, type Check, type Finding } from '../../engine/checks/check.ts';
import type { ExchangeFilter } from '../../engine/checks/shape.ts';
import { isObject, parseJson } from '../../../src/platform/json.ts';
import { type Exchange } from '../../engine/transcript/reading.ts';

/** A tool call in a reply, well-formed or not. */
interface ToolCall {
  /** JSON pointer into the reply. */
  pointer: string;
  call: Record<string, unknown>;
  function: Record<string, unknown> | undefined;
}

/** The messages of a reply, each with its JSON pointer. */
function messagesOf(exchange: Exchange): [string, Record<string, unknown>][] {
  const choices = isObject(exchange.json) ? exchange.json['choices'] : undefined;
  if (!Array.isArray(choices)) return [];
  return choices.flatMap((choice: unknown, index) => {
    const message = isObject(choice) ? choice['message'] : undefined;
    return isObject(message)
      ? [[`/choices/${index}/message`, message] as [string, Record<string, unknown>]]
      : [];
  });
}

function callsOf(exchange: Exchange): ToolCall[] {
  return messagesOf(exchange).flatMap(([place, message]) => {
    const calls = message['tool_calls'];
    if (!Array.isArray(calls)) return [];
    return calls.flatMap((call: unknown, index) => {
      if (!isObject(call)) return [];
      const target = call['function'];
      return [
        {
          pointer: `${place}/tool_calls/${index}`,
          call,
          function: isObject(target) ? target : undefined,
        },
      ];
    });
  });
}

/** Extends a check for the type of `function.arguments`: the string must contain JSON. */
export function checkArguments(typeCheck: Check): Check {
  return {
    ...typeCheck,
    judge: (evidence, transcript) => [
      ...typeCheck.judge(evidence, transcript),
      ...evidence.flatMap((exchange) =>
        callsOf(exchange).flatMap(({ pointer, function: target }): Finding[] => {
          const text = target?.['arguments'];
          if (typeof text !== 'string' || isJson(text)) return [];
          return [
            {
              exchange: exchange.id,
              pointer: `${pointer}/function/arguments`,
              expected: 'a string that contains JSON',
              received: formatValue(text),
            },
          ];
        }),
      ),
    ],
  };
}

const isJson = (text: string): boolean => parseJson(text) !== undefined;

/**
 * Each name in `metadata.tools_used` must have a tool call. Judges only the first turn of a
 * conversation: on later turns the list may include earlier ones, because the specification does
 * not say which turns it covers.
 */
export function checkToolsUsed(replies: ExchangeFilter, unjudged: Check['unjudged']): Check {
  const namesOf = (exchange: Exchange): string[] => {
    const metadata = isObject(exchange.json) ? exchange.json['metadata'] : undefined;
    const names = isObject(metadata) ? metadata['tools_used'] : undefined;
    return Array.isArray(names) ? names.filter((name) => typeof name === 'string') : [];
  };
  return checkEach(
    (exchange) =>
      replies(exchange) &&
      isFirstTurn(exchange) &&
      hasNamedCalls(exchange) &&
      namesOf(exchange).length > 0,
    (exchange) => {
      const called = new Set(callsOf(exchange).map(({ function: target }) => target?.['name']));
      return namesOf(exchange).flatMap((name, index): Finding[] =>
        called.has(name)
          ? []
          : [
              {
                exchange: exchange.id,
                pointer: `/metadata/tools_used/${index}`,
                expected: `a tool call of ${name}`,
                received:
                  called.size === 0 ? 'no tool call' : `tool calls of ${[...called].join(', ')}`,
                hint: 'Add every tool call with its result to choices[].message.tool_calls.',
              },
            ],
      );
    },
    unjudged,
  );
}

/** Whether every tool call of a reply has a name; otherwise it is unknown which calls are missing. */
function hasNamedCalls(exchange: Exchange): boolean {
  const messages = messagesOf(exchange);
  const isList = ([, message]: (typeof messages)[number]): boolean =>
    message['tool_calls'] === undefined || Array.isArray(message['tool_calls']);
  return (
    messages.length > 0 &&
    messages.every(isList) &&
    callsOf(exchange).every(({ function: target }) => typeof target?.['name'] === 'string')
  );
}

function isFirstTurn(exchange: Exchange): boolean {
  const messages = isObject(exchange.sent) ? exchange.sent['messages'] : undefined;
  return (
    Array.isArray(messages) &&
    !messages.some((message) => isObject(message) && message['role'] === 'assistant')
  );
}

/** A reply that has a tool call without a result, and no text, waits for the service to run the tool. */
export function checkToolsRun(replies: ExchangeFilter, unjudged: Check['unjudged']): Check {
  return checkEach(
    (exchange) => replies(exchange) && callsOf(exchange).length > 0,
    (exchange) =>
      messagesOf(exchange).flatMap(([pointer, message]): Finding[] => {
        const waiting = callsOf(exchange).find(
          (call) =>
            call.pointer.startsWith(pointer) &&
            call.function !== undefined &&
            !Object.hasOwn(call.function, 'result'),
        );
        const hasText = (message['content'] ?? '') !== '';
        if (!waiting || hasText) return [];
        return [
          {
            exchange: exchange.id,
            pointer: waiting.pointer,
            expected: 'the result of the tool and a reply that uses it',
            received: 'a tool call without a result, and no text',
            hint: "Run the tool in the sandbox; the service can't run it.",
          },
        ];
      }),
    unjudged,
  );
}
