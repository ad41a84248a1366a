-- title: Mentions in messages
-- question: Which messages mention whom, and where in their text?
-- why: Mentions are said in texts of every origin; to find them takes reading all messages.
-- grain: message and place
-- column message_id: VARCHAR; the message
-- column idx: BIGINT; place among the mentions of the message, from 0
-- column name: VARCHAR; the name as written, without its escapes
-- column kind: VARCHAR; what is mentioned, as written: user, agent or another word
-- column target_id: VARCHAR; the id as written, without its escapes
-- column start_char: BIGINT; where the mention starts in the text, in characters from 0
-- column end_char: BIGINT; where it ends, not included
-- caveat: Those in code, between backticks on one line or in a fenced block, or behind a backslash are no mentions.
-- caveat: A link to an address, such as `https://…`, is no mention.
-- kept: by family with messages

-- The few messages worth a closer look. What some engines take for the end of a line becomes a blank.
with message_text as (
  select
    id as message_id,
    content,
    regexp_replace(content, '[\r\x{85}\x{2028}\x{2029}]', ' ', 'g') as words
  from messages
  where contains(content, '@[') and contains(content, '](')
),
-- Each text, cut into fenced blocks, code, escaped characters, mentions and all between them, without a gap.
message_tokens as (
  select
    message_id,
    regexp_extract_all(
      words,
      '(?m)^[ \t>]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)?(?:'
        || '```[^`\n]*$[\s\S]*?(?:\n[ \t>]*````*[ \t]*$|\z)'
        || '|````[^`\n]*$[\s\S]*?(?:\n[ \t>]*`````*[ \t]*$|\z)'
        || '|`````[^`\n]*$[\s\S]*?(?:\n[ \t>]*``````*[ \t]*$|\z)'
        || '|```````*[^`\n]*$[\s\S]*?(?:\n[ \t>]*```````*[ \t]*$|\z)'
        || '|~~~(?:[^~\n][^\n]*)?$[\s\S]*?(?:\n[ \t>]*~~~~*[ \t]*$|\z)'
        || '|~~~~(?:[^~\n][^\n]*)?$[\s\S]*?(?:\n[ \t>]*~~~~~*[ \t]*$|\z)'
        || '|~~~~~(?:[^~\n][^\n]*)?$[\s\S]*?(?:\n[ \t>]*~~~~~~*[ \t]*$|\z)'
        || '|~~~~~~~*(?:[^~\n][^\n]*)?$[\s\S]*?(?:\n[ \t>]*~~~~~~~*[ \t]*$|\z))'
        || '|`[^`\n]+`|``[^`\n]+(?:`[^`\n]+){0,50}``|`{3,}[^`\n]+(?:`{1,2}[^`\n]+){0,50}`{3,}|`+'
        || '|\\[\s\S]'
        || '|@\[[^\[\]\\\n]*(?:(?:\\[\s\S]|\[[^\[\]\\\n]*\])[^\[\]\\\n]*){0,200}\]'
        || '\([A-Za-z][A-Za-z0-9_-]*:[^()\\\n]*(?:\\[\s\S][^()\\\n]*){0,200}\)'
        || '|[^`\\@\n]+(?:\n+[ \t]*[^ \t>*+0-9`~\\@\n-][^`\\@\n]*){0,200}|\n+|[\s\S]',
      0
    ) as tokens
  from message_text
),
-- One row for each token.
token_place as (
  select message_id, tokens, unnest(generate_series(1, array_length(tokens))) as place
  from message_tokens
),
-- The tokens in these places.
placed_token as (
  select message_id, place, tokens[cast(place as integer)] as token
  from token_place
),
-- Where each token ends in its text.
bounded_token as (
  select
    message_id, token, length(token) as token_chars,
    cast(sum(length(token)) over (partition by message_id order by place rows unbounded preceding) as bigint) as end_char
  from placed_token
),
-- Mentions as they are written: in the tokens some blanks stand for other characters.
written_mention as (
  select
    b.message_id,
    substr(m.content, cast(b.end_char - b.token_chars + 1 as integer), cast(b.token_chars as integer)) as written,
    b.end_char - b.token_chars as start_char,
    b.end_char
  from bounded_token b
  join message_text m on m.message_id = b.message_id
  where left(b.token, 2) = '@['
),
-- The parts of each, with their escapes: the last `](` is the one between name and address.
mention_part as (
  select
    message_id, start_char, end_char,
    regexp_extract(written, '^@\[([\s\S]*)\]\(', 1) as name,
    regexp_extract(written, '^@\[[\s\S]*\]\(([A-Za-z0-9_-]*):', 1) as kind,
    regexp_extract(written, '^@\[[\s\S]*\]\([A-Za-z0-9_-]*:([\s\S]*)\)$', 1) as target_id
  from written_mention
)
select
  message_id,
  row_number() over (partition by message_id order by start_char) - 1 as idx,
  array_to_string(regexp_extract_all(name, '\\?([\s\S])', 1), '') as name,
  kind,
  array_to_string(regexp_extract_all(target_id, '\\?([\s\S])', 1), '') as target_id,
  start_char,
  end_char
from mention_part
where name <> '' and target_id <> '' and left(target_id, 2) <> '//'
