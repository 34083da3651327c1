import { Html, html, withCode } from '../../../report-kit/html.ts';
import { linkTo, type PageContext } from '../frame/page-frame.ts';

/** The id of a requirement, such as CHAT-024. */
const ID = /\b((?:CHAT|HEALTH|USERS|VOICE)-\d{3})\b/;

/** Renders the id of a requirement as a link to its page. */
export const linkToRequirement = (id: string, context: PageContext): Html =>
  html`<a href="${linkTo(context, `/requirements/${id}`)}">${id}</a>`;

/** Renders a text whose ids of requirements lead to their pages. */
export const withRequirementLinks = (text: string, context: PageContext): Html =>
  joinParts(
    text
      .split(ID)
      // Every second part is an id.
      .map((part, index) => (index % 2 === 1 ? linkToRequirement(part, context) : withCode(part))),
  );

/** Joins parts of a sentence, which must get no space between them. */
const joinParts = (parts: readonly Html[]): Html =>
  new Html(parts.map(({ text }) => text).join(''));
