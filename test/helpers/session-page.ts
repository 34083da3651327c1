/** What the page of a session shows. */
export interface ShownSession {
  turns: { marks: string; tools: { name: string; arguments: unknown; result: unknown }[] }[];
  tags: Record<string, string>;
}

/** Reads the page that a deep link leads to. */
export async function readSessionPage(link: string): Promise<ShownSession> {
  const page = await (await fetch(link)).text();
  return {
    turns: [...page.matchAll(/<li class="turn">([^]*?)<\/li>/g)].map(([, turn = '']) => ({
      marks: /<span class="soft">(.*?)<\/span>/.exec(turn)?.[1] ?? '',
      tools: [...turn.matchAll(tool)].map(([, name = '', given = '', result = '']) => ({
        name: plain(name),
        arguments: recorded(given),
        result: recorded(result),
      })),
    })),
    tags: Object.fromEntries(
      [...page.matchAll(/<code class="tag">(.*?) = (.*?)<\/code>/g)].map(
        ([, key = '', value = '']) => [plain(key), plain(value)],
      ),
    ),
  };
}

const PART = '<(?:pre|p class="soft")>([^]*?)</p(?:re)?>';
const tool = new RegExp(`<summary>(.*?)</summary>\\s*${PART}\\s*${PART}`, 'g');

/** Null where the page says that there is none. */
function recorded(html: string): unknown {
  return /^no (arguments|result) recorded$/.test(html) ? null : JSON.parse(plain(html));
}

function plain(html: string): string {
  return html
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
