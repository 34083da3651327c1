/**
 * The OpenAPI and AsyncAPI documents in `schemas/` are correct and complete.
 * `test/package/contracts.test.ts` lints them.
 */
import t from 'tap';
import {
  createAsyncApi,
  createOpenApi,
  sandboxRoutes,
  schemas,
  serviceRoutes,
  voiceChannel,
} from '../../../src/contract/index.ts';
import {
  createDocumentValidator,
  escapeKey,
  listOperations,
  readDocument,
} from '../../support/contract/contract-documents.ts';

const openApiNames = ['openapi-service.json', 'openapi-sandbox.json'];

void t.test('every operation has a valid method name, a description, and a section', (t) => {
  const ids: string[] = [];
  for (const name of openApiNames) {
    for (const { operation } of listOperations(readDocument(name))) {
      ids.push(operation.operationId);
      t.match(operation.operationId, /^[a-z][A-Za-z]+$/);
      t.match(operation.description, /See spec \d\.\d/);
    }
  }
  t.same(ids.sort(), [...Object.keys(serviceRoutes), ...Object.keys(sandboxRoutes)].sort());
  t.equal(new Set(ids).size, ids.length, 'unique');
  t.end();
});

void t.test('every example of a document is valid for other validators', (t) => {
  let count = 0;
  for (const name of openApiNames) {
    const document = readDocument(name);
    const findProblems = createDocumentValidator(document);
    const check = (pointer: string, value: unknown): void => {
      count += 1;
      t.same(findProblems(pointer, value), [], `${name}${pointer}`);
    };
    for (const { pointer, operation } of listOperations(document)) {
      for (const [index, { example }] of (operation.parameters ?? []).entries()) {
        const schema = `${pointer}/parameters/${index}/schema`;
        if (example !== undefined) check(schema, example);
      }
      const bodies = [
        { at: `${pointer}/requestBody`, content: operation.requestBody?.content ?? {} },
        ...Object.entries(operation.responses).map(([status, { content }]) => ({
          at: `${pointer}/responses/${status}`,
          content,
        })),
      ];
      for (const { at, content } of bodies) {
        for (const [type, { examples = {} }] of Object.entries(content)) {
          for (const { value } of Object.values(examples)) {
            check(`${at}/content/${escapeKey(type)}/schema`, value);
          }
        }
      }
    }
  }
  t.ok(count > 60, `${count} examples`);
  t.end();
});

interface Listed {
  title: string;
  $comment: string;
  examples: unknown[];
  'x-near-misses': { value: unknown }[];
}

const messages = Object.values(schemas) as unknown as Listed[];
/** Messages that the specification describes, although no request or response contains them. */
const notOnTheWire = ['EvalDefinition', 'LiveSettings', 'TranscriptUpload'];
const documents = [createOpenApi('service'), createOpenApi('sandbox'), createAsyncApi()];

void t.test('every message of the interface is in a document, and as strict as its schema', (t) => {
  for (const { title, $comment, examples, 'x-near-misses': misses } of messages) {
    const document = documents.find(({ components }) => title in components.schemas);
    if (!document) {
      const isOurs = $comment.startsWith('our') || notOnTheWire.includes(title);
      t.ok(isOurs, `${title} is not part of the interface`);
      continue;
    }
    const findProblems = createDocumentValidator(document);
    const pointer = `#/components/schemas/${title}`;
    for (const example of examples) t.same(findProblems(pointer, example), [], title);
    for (const { value } of misses) {
      t.not(findProblems(pointer, value).length, 0, `${title}: ${JSON.stringify(value)}`);
    }
  }
  t.end();
});

void t.test('the times of a document accept exactly what the kit accepts', (t) => {
  const findProblems = createDocumentValidator(createOpenApi('sandbox'));
  for (const [time, isTime] of [
    ['2026-11-20T09:30:00Z', true],
    ['2026-11-20T09:30:00.5\u221201:00', true],
    ['20261120T093000Z', true],
    ['2026-02-30', false],
    ['20 Nov 2026', false],
  ] as const) {
    t.equal(findProblems('#/components/schemas/IsoTime', time).length === 0, isTime, time);
  }
  t.end();
});

void t.test('a running server puts its own address and key header into its document', (t) => {
  const service = createOpenApi('service', { serverUrl: '/', apiKeyHeader: 'x-my-key' });
  t.match(service.servers, [{ url: '/' }]);
  t.match(service.components.securitySchemes, { apiKey: { name: 'x-my-key' } });
  const voice = createAsyncApi({ host: '127.0.0.1:4000', isSecure: false });
  t.match(voice.servers, { sandbox: { host: '127.0.0.1:4000', protocol: 'ws' } });
  t.end();
});

void t.test('each message of the voice WebSocket is an operation of the sandbox', (t) => {
  const { channels, operations } = createAsyncApi();
  t.match(channels, { voice: { address: '/voice' } });
  for (const { operation, sender, name } of voiceChannel.messages) {
    const action = sender === 'sandbox' ? 'send' : 'receive';
    t.match(operations[operation], { action, messages: [{ $ref: new RegExp(`/${name}$`) }] });
    t.match(operation, new RegExp(`^${action}`));
  }
  const types = messages.filter(({ $comment }) => /^spec 6/.test($comment));
  t.equal(types.length, 4, 'the specification has four messages');
  for (const { title } of types) {
    t.ok(voiceChannel.messages.some(({ name }) => name === title));
  }
  t.end();
});
