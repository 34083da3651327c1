/** What the page of a session shows. */
export interface ShownSession {
  turns: { marks: string; tools: { name: string; arguments: unknown; result: unknown }[] }[];
  tags: Record<string, string>;
}

/** Reads the page that a deep link leads to. */
export async function shownAt(link: string): Promise<ShownSession> {
  const page = await (await fetch(link)).text();
  return {
    turns: [...page.matchAll(/<li class="turn">([^]*?)<\/li>/g)].map(([, turn = '']) => ({
      marks: /<span class="soft">(.*?)<\/span>/.exec(turn)?.[1] ?? '',
      tools: [...turn.matchAll(tool)].map(([, name = '', given = '', result = '']) => ({
        name: plain(name),
        arguments: JSON.parse(plain(given)) as unknown,
        result: JSON.parse(plain(result)) as unknown,
      })),
    })),
    tags: Object.fromEntries(
      [...page.matchAll(/<code class="tag">(.*?) = (.*?)<\/code>/g)].map(
        ([, key = '', value = '']) => [plain(key), plain(value)],
      ),
    ),
  };
}

const tool = /<summary>(.*?)<\/summary>\s*<pre>([^]*?)<\/pre>\s*<pre>([^]*?)<\/pre>/g;

function plain(html: string): string {
  return html
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
