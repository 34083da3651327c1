/** Advice of reports on pages, which have fields instead of options. */
import t from 'tap';
import { renderAdvice } from '../../../../src/service/web/agents/advice.ts';

const read = (text: string): string =>
  renderAdvice(text)
    .text.replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s+/g, ' ');

void t.test('advice that names an option says which field does the same', (t) => {
  t.match(
    read('Raise the limit, or send fewer requests with --rate'),
    'On these pages, --rate is “Requests per second” of a load test.',
  );
  t.match(
    read('Set SANDBOX_KIT_API_KEY, or pass --api-key-file FILE.'),
    '--api-key-file is “API key” in the settings of the agent.',
  );
  const without = read('Pass it with --cert FILE and --key FILE, or set --voice-url.');
  t.match(without, '--voice-url is “Voice URL” in the settings of the agent.');
  t.match(without, 'No page sets --cert and --key: run the command with it, and upload its report');
  t.notMatch(read('Waive this with `--allow-http`.'), 'On these pages');
  t.match(renderAdvice('Waive this with `--allow-http`.').text, /<code>--allow-http<\/code>/);
  for (const plain of [
    'Send a string, even when the reply contains tool calls.',
    'Use `sandbox-kit check --cert FILE --key FILE`.',
    'Paths such as /a--b stay as they are.',
  ]) {
    t.notMatch(read(plain), /page/, plain);
  }
  t.end();
});
