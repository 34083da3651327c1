/** The content of a session page. */
interface ShownSession {
  turns: { marks: string; tools: { name: string; arguments: unknown; result: unknown }[] }[];
  tags: Record<string, string>;
}

/** Reads the page that a deep link leads to. */
export async function readSessionPage(link: string): Promise<ShownSession> {
  const page = await (await fetch(link)).text();
  return {
    turns: [...page.matchAll(/<li class="turn"[^>]*>([^]*?)<\/li>/g)].map(([, turn = '']) => ({
      marks: /<div class="soft metrics[^>]*>([^]*?)<\/div>/.exec(turn)?.[1] ?? '',
      tools: [...turn.matchAll(tool)].map(([, name = '', args = '', result = '']) => ({
        name: decodeHtml(name.replaceAll(/<\/?mark>/g, '')),
        arguments: parseRecorded(args),
        result: parseRecorded(result),
      })),
    })),
    tags: Object.fromEntries(
      [...page.matchAll(/<code class="tag">(.*?) = (.*?)<\/code>/g)].map(
        ([, key = '', value = '']) => [decodeHtml(key), decodeHtml(value)],
      ),
    ),
  };
}

const PART = '(?:<div class="soft part">.*?</div>\\s*)?<(?:pre|p class="soft")>([^]*?)</p(?:re)?>';
const tool = new RegExp(`<summary>(.*?)</summary>\\s*${PART}\\s*${PART}`, 'g');

/** Parses arguments or a result; null if the page shows that none was recorded. */
function parseRecorded(html: string): unknown {
  return /^no (arguments|result) recorded$/.test(html) ? null : JSON.parse(decodeHtml(html));
}

function decodeHtml(html: string): string {
  return html
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
