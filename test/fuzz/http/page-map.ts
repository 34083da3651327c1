/** The links and forms of the pages of a service. */

/** A form of a page. */
export interface FoundForm {
  action: string;
  isMultipart: boolean;
  fields: { name: string; value: string; isFile: boolean }[];
}

export interface PageMap {
  /** Paths with their queries. */
  links: string[];
  forms: FoundForm[];
}

/** The pages that are read; every kind of page is among the first ones. */
const PAGES_MAX = 120;

/** Links of each kind: pages that differ only in ids are of one kind. */
const PER_KIND_MAX = 3;

/** Follows all links from the overview. */
export async function mapPages(url: string): Promise<PageMap> {
  const kinds = new Map<string, number>();
  const links: string[] = ['/'];
  const forms = new Map<string, FoundForm>();
  for (const link of links) {
    if (links.indexOf(link) > PAGES_MAX) break;
    const response = await fetch(url + link, { headers: { accept: 'text/html' } });
    const isPage = response.headers.get('content-type')?.startsWith('text/html') === true;
    const html = isPage ? await response.text() : '';
    if (!isPage) await response.body?.cancel();
    for (const target of findLinks(html, link)) {
      const kind = target.replaceAll(/=[^&]*/g, '').replaceAll(/\/[^/?]*\d[^/?]*/g, '/ID');
      const count = kinds.get(kind) ?? 0;
      if (links.includes(target) || count >= PER_KIND_MAX) continue;
      kinds.set(kind, count + 1);
      links.push(target);
    }
    for (const form of findForms(html, link)) {
      forms.set(`${form.action} ${form.fields.map(({ name }) => name).join()}`, form);
    }
  }
  return { links, forms: [...forms.values()] };
}

const BASE = 'http://service.invalid';

function findLinks(html: string, page: string): string[] {
  return [...html.matchAll(/(?:href|src|data-live)="([^"]+)"/g)].flatMap(([, target = '']) => {
    const url = URL.parse(unescape(target), BASE + page);
    return url?.origin === BASE ? [url.pathname + url.search] : [];
  });
}

function findForms(html: string, page: string): FoundForm[] {
  return [...html.matchAll(/<form([^>]*)>([\s\S]*?)<\/form>/g)].flatMap(
    ([, head = '', body = '']) => {
      if (!head.includes('method="post"')) return [];
      const { pathname, search } = new URL(readAttribute(head, 'action') ?? page, BASE + page);
      const fields = [...body.matchAll(/<(input|textarea|select|button)([^>]*)>/g)].flatMap(
        ([, , attributes = '']) => {
          const name = readAttribute(attributes, 'name');
          if (name === undefined) return [];
          const value = readAttribute(attributes, 'value') ?? '';
          return [{ name, value, isFile: attributes.includes('type="file"') }];
        },
      );
      return [{ action: pathname + search, isMultipart: head.includes('multipart'), fields }];
    },
  );
}

function readAttribute(attributes: string, name: string): string | undefined {
  const [, value] = new RegExp(`\\b${name}="([^"]*)"`).exec(attributes) ?? [];
  return value === undefined ? undefined : unescape(value);
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&amp;': '&',
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#39;': "'",
};

const unescape = (text: string): string =>
  text.replaceAll(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
