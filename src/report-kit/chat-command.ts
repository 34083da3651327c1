import type { ChatRequest } from '../contract/index.ts';
import { quoteText } from '../platform/shell.ts';

/** Longer commands are not printed. */
const COMMAND_CHARS_MAX = 1_000;

/**
 * Returns the POSIX shell command that sends a chat request to a sandbox; undefined if it is long. It
 * takes the key from `SANDBOX_KIT_API_KEY`.
 */
export function formatChatCommand(
  { url, hasKey }: { url: string; hasKey: boolean },
  request: ChatRequest,
): string | undefined {
  const command = [
    `curl ${quoteText(`${url.replace(/\/+$/, '')}/v1/chat/completions`)}`,
    ...(hasKey ? ['-H "authorization: Bearer $SANDBOX_KIT_API_KEY"'] : []),
    "-H 'content-type: application/json'",
    `--data-raw ${quoteText(JSON.stringify(request))}`,
  ].join(' ');
  return command.length <= COMMAND_CHARS_MAX ? command : undefined;
}
