/** Requests of browsers to the pages of the service: links and forms, with and without a session. */
import { gzipSync } from 'node:zlib';
import fc, { type Arbitrary } from 'fast-check';
import { schemas, type MessageName, type SeedDocument } from '../../../src/contract/index.ts';
import { makeSpan, makeTraceRequest } from '../../support/traces/otlp.ts';
import { defineTarget, type Session } from '../engine/target.ts';
import { mapPages, type FoundForm, type PageMap } from '../http/page-map.ts';
import { pathPart, queryOf, strangeHeaders, type Header, type Request } from '../http/requests.ts';
import { openService } from '../http/servers.ts';
import { createHttpSession } from '../http/session.ts';
import { byteEdits, editBytes, rareByteEdits, type ByteEdit } from '../inputs/byte-edits.ts';
import { messageInputs } from '../inputs/schema-inputs.ts';
import { IDS, WORDS } from '../inputs/words.ts';

const [ADMIN_KEY, READER_KEY] = ['the-key-of-the-service', 'the-key-of-a-reader'] as const;

/** Who asks, from where, and for what. */
interface Sender {
  access: 'local' | 'admin' | 'reader' | 'key' | 'nobody' | 'broken';
  origin: 'own' | 'other' | 'none';
  accept: string;
  more: Header[];
}

const sender: Arbitrary<Sender> = fc.record({
  access: fc.oneof(
    { weight: 15, arbitrary: fc.constantFrom('local' as const, 'admin' as const) },
    { weight: 1, arbitrary: fc.constantFrom('reader', 'key', 'nobody', 'broken') },
  ),
  origin: fc.oneof(
    { weight: 20, arbitrary: fc.constant('own' as const) },
    { weight: 1, arbitrary: fc.constantFrom('other' as const, 'none' as const) },
  ),
  accept: fc.oneof(
    { weight: 6, arbitrary: fc.constant('text/html') },
    {
      weight: 1,
      arbitrary: fc.constantFrom('application/json', 'text/event-stream', '*/*', ';;q=,'),
    },
  ),
  more: strangeHeaders,
});

/** A change of a field of a form; `field` counts the fields, modulo their number. */
type FieldChange = { field: number } & (
  | { change: 'set'; value: string }
  | { change: 'drop' }
  | { change: 'repeat'; times: number }
  | { change: 'file'; name: string; bytes: Uint8Array }
);

const DOCUMENTS: readonly MessageName[] = ['Scenario', 'Persona', 'EvalDefinition', 'TestedAgent'];

/** Texts of fields: words, and the documents that editors show. */
const fieldText: Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...WORDS, ...IDS) },
  ...DOCUMENTS.map((name) => ({
    weight: 1,
    arbitrary: fc
      .tuple(messageInputs(name), rareByteEdits)
      .map(([value, edits]) =>
        editBytes(Buffer.from(JSON.stringify(value)), edits).toString('utf8'),
      ),
  })),
);

const CSV =
  'session_id,user_input,agent_response,started_at,metadata\na,Hello,"Hi, there",2026-11-20T09:30:00Z,"{""k"":1}"\n';

/** Files of transcripts, in each format. */
const files: Arbitrary<{ name: string; bytes: Uint8Array }> = fc
  .tuple(
    fc.constantFrom('a.csv', 'a.json', 'a.jsonl', 'a.json.gz', 'a', ''),
    fc.oneof(
      fc.constant(Buffer.from(CSV)),
      messageInputs('TranscriptUpload').map((value) => Buffer.from(JSON.stringify(value))),
      fc
        .array(messageInputs('TranscriptUpload'), { maxLength: 3 })
        .map((list) => Buffer.from(list.map((value) => JSON.stringify(value)).join('\n'))),
    ),
    byteEdits,
  )
  .map(([name, bytes, edits]) => {
    const changed = editBytes(bytes, edits);
    return { name, bytes: name.endsWith('gz') ? gzipSync(changed) : changed };
  });

const field = fc.nat(200);

const fieldChange: Arbitrary<FieldChange> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ field, change: fc.constant('set' as const), value: fieldText }),
  },
  { weight: 1, arbitrary: fc.record({ field, change: fc.constant('drop' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      field,
      change: fc.constant('repeat' as const),
      times: fc.constantFrom(2, 50, 12_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc
      .tuple(field, files)
      .map(([at, file]): FieldChange => ({ field: at, change: 'file', ...file })),
  },
);

/** What is requested; links and forms are counted modulo their number. */
type PageInput = { sender: Sender } & (
  | { kind: 'link'; link: number; query: string }
  | { kind: 'path'; path: string }
  | { kind: 'form'; form: number; changes: FieldChange[]; edits: ByteEdit[]; isMultipart: boolean }
);

const query = queryOf({
  owner: fc.constantFrom('development', 'a reader', ...IDS),
  kind: fc.constantFrom('production', 'simulation', 'open'),
  id: fc.constantFrom(...IDS),
  text: fc.constantFrom(...WORDS),
  tag: fc.constantFrom('k=v', '=', ...WORDS),
  page: fc.constantFrom('0', '1', '2', '1e9', '-1'),
  list: fc.constantFrom('kind=open', '%'),
  a: fc.constantFrom(...IDS),
  b: fc.constantFrom(...IDS),
  notice: fc.constantFrom('saved', 'x'),
});

const input: Arbitrary<PageInput> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ sender, kind: fc.constant('link' as const), link: fc.nat(500), query }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      sender,
      kind: fc.constant('path' as const),
      path: fc
        .tuple(
          fc.constantFrom(
            'agents',
            'evals',
            'scenarios',
            'personas',
            'runs',
            'simulation',
            'production-eval',
            'recordings',
          ),
          fc.array(
            fc.oneof(pathPart, fc.constantFrom('edit', 'new', 'chat', 'call', 'live', 'progress')),
            { maxLength: 3 },
          ),
        )
        .map(([section, parts]) => `/${[section, ...parts].join('/')}`),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      sender,
      kind: fc.constant('form' as const),
      form: fc.nat(500),
      changes: fc.array(fieldChange, { maxLength: 4 }),
      edits: rareByteEdits,
      isMultipart: fc.boolean(),
    }),
  },
);

/** A part of a form that is sent. */
interface SentField {
  name: string;
  value: string | Uint8Array;
  /** The name of a file. */
  fileName?: string;
}

function changeFields(
  { fields }: FoundForm,
  changes: readonly FieldChange[],
  token: string,
): SentField[] {
  const sent: SentField[][] = fields.map(({ name, value, isFile }) => [
    { name, value: name === '_token' ? token : value, ...(isFile && { fileName: '' }) },
  ]);
  for (const each of changes) {
    if (sent.length === 0) break;
    const at = each.field % sent.length;
    const [first = { name: '', value: '' }] = sent[at] ?? [];
    if (each.change === 'set') sent[at] = [{ ...first, value: each.value }];
    else if (each.change === 'drop') sent[at] = [];
    else if (each.change === 'repeat') sent[at] = Array.from({ length: each.times }, () => first);
    else sent[at] = [{ name: first.name, value: each.bytes, fileName: each.name }];
  }
  return sent.flat();
}

const BOUNDARY = 'the-boundary';

function encodeForm(fields: readonly SentField[], isMultipart: boolean): Buffer {
  const text = (value: string | Uint8Array): string => Buffer.from(value).toString('utf8');
  if (!isMultipart) {
    const pairs = fields.map(({ name, value }): [string, string] => [name, text(value)]);
    return Buffer.from(new URLSearchParams(pairs).toString());
  }
  const parts = fields.map(({ name, value, fileName }) => {
    const file = fileName === undefined ? '' : `; filename="${fileName}"`;
    const head = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="${name}"${file}\r\n\r\n`;
    return Buffer.concat([Buffer.from(head), Buffer.from(value), Buffer.from('\r\n')]);
  });
  return Buffer.concat([...parts, Buffer.from(`--${BOUNDARY}--\r\n`)]);
}

/** The session of a browser: its cookie, and the token of its forms. */
interface Browser {
  cookie: string;
  token: string;
}

/** What requests need of a service that runs. */
interface Pages {
  map: PageMap;
  origin: string;
  browsers: Record<'local' | 'admin' | 'reader', Browser>;
}

function headersOf({ access, origin, accept, more }: Sender, pages: Pages): Header[] {
  const proxied: Header = ['x-forwarded-for', '203.0.113.7'];
  const cookies: Record<Sender['access'], Header[]> = {
    local: [],
    nobody: [proxied],
    key: [proxied, ['x-service-api-key', READER_KEY]],
    admin: [proxied, ['cookie', pages.browsers.admin.cookie]],
    reader: [proxied, ['cookie', pages.browsers.reader.cookie]],
    broken: [proxied, ['cookie', `${pages.browsers.admin.cookie}0; a; =; sandbox_kit_session=...`]],
  };
  const origins: Record<Sender['origin'], Header[]> = {
    own: [['origin', pages.origin]],
    other: [['origin', 'https://evil.example']],
    none: [],
  };
  return [...cookies[access], ...origins[origin], ['accept', accept], ...more];
}

function toRequest(sent: PageInput, pages: Pages): Request {
  const headers = headersOf(sent.sender, pages);
  if (sent.kind === 'path') return { method: 'GET', path: sent.path, headers };
  const { links, forms } = pages.map;
  if (sent.kind === 'link') {
    const link = links[sent.link % links.length] ?? '/';
    const path = link.includes('?') ? link + sent.query.replace('?', '&') : link + sent.query;
    return { method: 'GET', path, headers };
  }
  const form = forms[sent.form % forms.length];
  if (!form) throw new Error('The pages have no forms.');
  const { access } = sent.sender;
  const { token } = pages.browsers[access === 'admin' || access === 'reader' ? access : 'local'];
  const isMultipart = form.isMultipart || sent.isMultipart;
  const type = isMultipart
    ? `multipart/form-data; boundary=${BOUNDARY}`
    : 'application/x-www-form-urlencoded';
  const fields = changeFields(form, sent.changes, token);
  return {
    method: 'POST',
    path: form.action,
    headers: [...headers, ['content-type', type]],
    body: editBytes(encodeForm(fields, isMultipart), sent.edits),
  };
}

/** The example of seed data, with an agent on this machine. */
function makeSeed(): SeedDocument {
  const [example] = schemas.SeedDocument.examples;
  return {
    ...(example as unknown as SeedDocument),
    agents: [{ id: 'shop', name: 'Shop agent', url: 'http://127.0.0.1:9' }],
  };
}

/** Signs in, and returns the session. */
async function signIn(url: string, key: string): Promise<Browser> {
  const proxied = { 'x-forwarded-for': '203.0.113.7', origin: url };
  const signed = await fetch(`${url}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: proxied,
    body: new URLSearchParams({ key, next: '/' }),
  });
  const [cookie = ''] = (signed.headers.get('set-cookie') ?? '').split(';');
  return { cookie, token: await readToken(url, { ...proxied, cookie }) };
}

async function readToken(url: string, headers: Record<string, string>): Promise<string> {
  const page = await fetch(`${url}/settings`, { headers: { accept: 'text/html', ...headers } });
  const [, token = ''] = /name="_token" value="([^"]*)"/.exec(await page.text()) ?? [];
  return token;
}

export default defineTarget<PageInput[]>({
  about: 'links and forms, to the pages of the service',
  inputs: fc.array(input, { minLength: 1, maxLength: 16, size: 'max' }),
  inputsPerRound: 40,
  countOf: ({ length }) => length,
  async open() {
    const server = await openService({
      keys: [
        { key: ADMIN_KEY, owner: 'development' },
        { key: READER_KEY, owner: 'a reader' },
      ],
      seed: makeSeed(),
    });
    const { url } = server;
    /** Sends what seed data has not: an open conversation, and one that no eval scored. */
    const fill = async (): Promise<void> => {
      const spans = ['open', 'closed'].map((conversationId) => makeSpan({ conversationId }));
      const headers = { 'x-service-api-key': ADMIN_KEY, 'content-type': 'application/json' };
      const body = JSON.stringify(makeTraceRequest(spans));
      await fetch(`${url}/v1/traces`, { method: 'POST', headers, body });
      await fetch(`${url}/v1/sessions/closed/end`, { method: 'POST', headers, body: '' });
    };
    await fill();
    const pages: Pages = {
      map: await mapPages(url),
      origin: url,
      browsers: {
        local: { cookie: '', token: await readToken(url, {}) },
        admin: await signIn(url, ADMIN_KEY),
        reader: await signIn(url, READER_KEY),
      },
    };
    const session: Session<PageInput[]> = createHttpSession(server, (inputs: PageInput[]) =>
      inputs.map((each) => toRequest(each, pages)),
    );
    return {
      ...session,
      async reset() {
        await session.reset();
        await fill();
      },
    };
  },
});
