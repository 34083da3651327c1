import type { FastifyInstance, FastifyRequest } from 'fastify';
import { html, type Html } from '../../../report-kit/html.ts';
import type { PageAuthentication } from '../../requests/authentication.ts';
import { RequestError } from '../../requests/errors.ts';
import { renderEdit, type Edit } from './edits.ts';
import { linkTo, type PageContext } from './page-frame.ts';

/** The largest form, with its files. */
export const FORM_BYTES_MAX = 33_554_432;
const TOKEN_FIELD = '_token';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether readers who may not change anything may send this form. */
    isForAnyone?: boolean;
  }
}

/** A form that changes something. */
export interface FormContent {
  /** Path of the route that receives the form. */
  action: string;
  /** The fields, with the buttons. */
  body: Html;
  /** Whether the form contains files. */
  hasFiles?: boolean;
  className?: string;
  /** What the form edits, if another one may have saved it meanwhile. */
  edit?: Edit | undefined;
}

/** Renders a form, or, for readers who may not change anything, how to become one who may. */
export function renderForm(context: PageContext, form: FormContent): Html {
  const { action, body, hasFiles = false, className = 'form', edit } = form;
  if (context.token === undefined) {
    return html`<p class="soft">
      To change this, <a href="/sign-in">sign in</a> with the first API key of this service.
    </p>`;
  }
  return html`<form
    method="post"
    action="${linkTo(context, action)}"
    class="${className}"
    ${hasFiles && html`enctype="multipart/form-data"`}
  >
    <input type="hidden" name="${TOKEN_FIELD}" value="${context.token}" />
    ${edit && renderEdit(edit)} ${body}
  </form>`;
}

/**
 * Makes a scope accept forms, and reject every other body. Bodies can be large, so the sender of a form
 * is checked before its body is read.
 */
export function acceptForms(scope: FastifyInstance, authentication: PageAuthentication): void {
  scope.addHook('onRequest', async ({ method, headers, routeOptions }) => {
    if (method !== 'POST' || routeOptions.config.isForAnyone === true) return;
    authentication.checkSender(headers, await authentication.authenticateReader(headers));
  });
  scope.addContentTypeParser(
    ['application/x-www-form-urlencoded', 'multipart/form-data'],
    { parseAs: 'buffer', bodyLimit: FORM_BYTES_MAX },
    (_request, body, done) => done(null, body),
  );
}

/** More fields than the largest form of the pages has. Each takes memory, however short it is. */
const FIELDS_MAX = 10_000;

/** Returns the fields and files of a form. @throws RequestError `malformed_body`. */
export async function readForm({ headers, body }: FastifyRequest): Promise<FormData> {
  const type = headers['content-type'] ?? '';
  const bytes = Buffer.isBuffer(body) ? new Uint8Array(body) : new Uint8Array();
  checkFieldCount(bytes, type);
  try {
    // Buffering is safe: the parser of the scope limits the body.
    // eslint-disable-next-line @typescript-eslint/no-deprecated
    return await new Response(bytes, { headers: { 'content-type': type } }).formData();
  } catch {
    const message = 'The body is not a form. Send it from the pages of this service.';
    throw new RequestError('malformed_body', message);
  }
}

/** Counts what separates the fields, before they are parsed. @throws RequestError `malformed_body`. */
function checkFieldCount(bytes: Uint8Array, type: string): void {
  const separator = Buffer.from(type.startsWith('multipart/') ? 'form-data' : '&');
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let count = 0;
  for (let at = body.indexOf(separator); at >= 0; at = body.indexOf(separator, at + 1)) {
    count += 1;
    if (count > FIELDS_MAX) {
      const message = `The form has more than ${FIELDS_MAX} fields. Send it from the pages of this service.`;
      throw new RequestError('malformed_body', message);
    }
  }
}

/** Returns a text field of a form without spaces around it; empty if it is missing. */
export function readText(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value.trim() : '';
}

/** Returns the texts of all fields with a name, such as the values of checked boxes. */
export const readTexts = (form: FormData, name: string): string[] =>
  form.getAll(name).filter((value) => typeof value === 'string');

/** Returns a text of many lines as entered, with line breaks as in files; empty if it is missing. */
export function readLines(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value.replaceAll('\r\n', '\n') : '';
}

/** Returns the token that a form contains. */
export const readToken = (form: FormData): string => readText(form, TOKEN_FIELD);
