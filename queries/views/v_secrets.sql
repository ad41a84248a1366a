-- title: Secrets in texts
-- question: Which messages, calls and summaries hold keys, tokens or passwords, and how often?
-- why: To look for them takes reading all texts; what is found is little, and holds no secret.
-- grain: pattern, fingerprint, field and id
-- column pattern: VARCHAR; what kind of secret it is
-- column fingerprint: VARCHAR; the same for the same secret, and of no use to find it out: 12 digits of the SHA-256 of pattern, colon and secret
-- column place: VARCHAR; one of message, call, summary
-- column field: VARCHAR; one of content, thinking, params, result, summary
-- column id: VARCHAR; the message, the call, or the turn of the compaction
-- column turn_id: VARCHAR; the turn
-- column said_at: BIGINT; when that was said, in Unix ms
-- column occurrences: BIGINT; how often it stands there
-- caveat: What stands for a secret, such as `<your key>`, an example of a vendor's documentation or a placeholder, is left out.
-- caveat: A pattern shows the form of a secret, not that it is valid.
-- caveat: Of a private key the first 8,000 characters count, without line ends.
-- kept: by family with turns

-- All texts in which a secret can stand.
with stored_text as (
  select 'message' as place, 'content' as field, id, turn_id, created_at as said_at, content as words
  from messages
  where content is not null
  union all
  select 'message', 'thinking', id, turn_id, created_at, thinking
  from messages
  where thinking is not null
  union all
  select 'call', 'params', id, turn_id, started_at, params_json
  from tool_calls
  union all
  select 'call', 'result', id, turn_id, started_at, result_json
  from tool_calls
  where result_json is not null
  union all
  select 'summary', 'summary', c.turn_id, c.turn_id, t.started_at, c.summary
  from compactions c
  join turns t on t.id = c.turn_id
),
-- One pass that reads fast finds the few texts worth a closer look: every secret below has a match of this.
suspect_text as (
  select place, field, id, turn_id, said_at, words
  from stored_text
  where regexp_matches(
    words,
    '(?:AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|xox[abeps]-|xapp-|AIza|GOCSPX-|ya29[.]|sk-|gsk_|xai-|r8_|pplx-|hf_'
      || '|[sr]k_live_|npm_|pypi-AgE|SG[.]|do[op]_v1_|dckr_pat_|AGE-SECRET-KEY-1|eyJ)[0-9A-Za-z_.-]{16}'
      || '|PRIVATE KEY-----|hooks[.]slack[.]com/services/T|://[^ \t\r\n:/@''"<>`|]+:[^ \t\r\n@/:''"<>`|]+@'
      || '|(?:[kK][eE][yY]|[sS][eE][cC][rR][eE][tT]|[tT][oO][kK][eE][nN]|[pP][aA][sS][sS][wW](?:[oO][rR])?[dD])'
      || '\\{0,3}["''`]?[ \t\r\n]{0,3}[:=][ \t\r\n]{0,3}\\{0,3}["''`]?[A-Za-z0-9+/_=-]{20}'
  )
),
-- A token may stand right behind an escaped line end, as the texts of JSON have them.
candidate_match as (
  select
    place, field, id, turn_id, said_at,
    unnest(
      regexp_extract_all(
        words,
        '(?:\b|\\[nrt])'
          || '(?:AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|xox[abeps]-|xapp-|AIza|GOCSPX-|ya29[.]|sk-|gsk_|xai-|r8_|pplx-|hf_'
          || '|[sr]k_live_|npm_|pypi-AgE|SG[.]|do[op]_v1_|dckr_pat_|AGE-SECRET-KEY-1|eyJ)[0-9A-Za-z_.-]{16,}'
          || '|-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[0-9A-Za-z+/=\\ \t\r\n]{60,}'
          || '|hooks[.]slack[.]com/services/T[0-9A-Za-z_/]{24,}'
          || '|[a-z][a-z0-9+]{1,15}://[^ \t\r\n:/@''"<>`|]{1,64}:[^ \t\r\n@/:''"<>`|]{6,128}@[0-9A-Za-z_.-]',
        0
      )
    ) as found,
    false as is_named
  from suspect_text
  union all
  select
    place, field, id, turn_id, said_at,
    unnest(
      regexp_extract_all(
        words,
        '(?i)(?:api[_-]?key|secret[_-]?key|access[_-]?key|secret|auth[_-]?token|access[_-]?token|api[_-]?token'
          || '|bot[_-]?token|client[_-]?secret|password|passwd|private[_-]?key)'
          || '\\{0,3}["''`]?[ \t\r\n]{0,3}[:=][ \t\r\n]{0,3}\\{0,3}["''`]?[A-Za-z0-9+/_=-]{20,}[.(]?',
        0
      )
    ),
    true
  from suspect_text
),
-- Matches without that line end.
trimmed_match as (
  select place, field, id, turn_id, said_at, is_named, regexp_replace(found, '^\\[nrt]', '') as found
  from candidate_match
),
-- Each match with the name of its kind.
classified_match as (
  select
    t.*,
    case
      when is_named then 'named-secret'
      when left(found, 10) = '-----BEGIN' then 'private-key'
      when left(found, 6) = 'hooks.' then 'slack-webhook'
      when contains(found, '://') then 'address-password'
      when left(found, 4) in ('AKIA', 'ASIA') then 'aws-access-key'
      when left(found, 4) in ('ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_') or left(found, 11) = 'github_pat_'
        then 'github-token'
      when left(found, 6) = 'glpat-' then 'gitlab-token'
      when left(found, 3) = 'xox' or left(found, 5) = 'xapp-' then 'slack-token'
      when left(found, 4) = 'AIza' then 'google-api-key'
      when left(found, 7) = 'GOCSPX-' then 'google-oauth-secret'
      when left(found, 5) = 'ya29.' then 'google-oauth-token'
      when left(found, 8) in ('sk_live_', 'rk_live_') then 'stripe-key'
      when left(found, 3) = 'hf_' then 'hugging-face-token'
      when left(found, 4) = 'npm_' then 'npm-token'
      when left(found, 5) = 'pypi-' then 'pypi-token'
      when left(found, 3) = 'SG.' then 'sendgrid-key'
      when left(found, 2) = 'do' then 'digitalocean-token'
      when left(found, 9) = 'dckr_pat_' then 'docker-token'
      when left(found, 4) = 'AGE-' then 'age-key'
      when left(found, 3) = 'eyJ' then 'json-web-token'
      else 'model-provider-key'
    end as pattern
  from trimmed_match t
),
-- The secret itself, in the form that its vendor gives it; empty where a match has another form.
extracted_secret as (
  select
    place, field, id, turn_id, said_at, pattern,
    case pattern
      when 'named-secret' then regexp_extract(found, '[:=][ \t\r\n]{0,3}\\{0,3}["''`]?([A-Za-z0-9+/_=-]{20,200})$', 1)
      when 'private-key'
        then regexp_replace(
          regexp_extract(left(found, 8000), 'PRIVATE KEY-----([0-9A-Za-z+/=\\ \t\r\n]+)', 1),
          '\\+[rn]|[ \t\r\n\\]',
          '',
          'g'
        )
      when 'slack-webhook'
        then regexp_extract(found, '/services/(T[0-9A-Za-z_]{6,20}/B[0-9A-Za-z_]{6,20}/[0-9A-Za-z_]{16,40})', 1)
      when 'address-password' then regexp_extract(found, '://[^:]+:(.+)@[0-9A-Za-z_.-]$', 1)
      when 'aws-access-key' then regexp_extract(found, '^([0-9A-Z]{20})(?:[^0-9A-Za-z]|$)', 1)
      when 'github-token'
        then regexp_extract(found, '^(gh[pousr]_[0-9A-Za-z]{36,255}|github_pat_[0-9A-Za-z_]{60,255})(?:[^0-9A-Za-z_]|$)', 1)
      when 'gitlab-token' then regexp_extract(found, '^(glpat-[0-9A-Za-z_-]{20,100})', 1)
      when 'slack-token' then regexp_extract(found, '^(x[a-z]{3}-[0-9A-Za-z-]{20,255})', 1)
      when 'google-api-key' then regexp_extract(found, '^(AIza[0-9A-Za-z_-]{35})(?:[^0-9A-Za-z_-]|$)', 1)
      when 'google-oauth-secret' then regexp_extract(found, '^(GOCSPX-[0-9A-Za-z_-]{28})(?:[^0-9A-Za-z_-]|$)', 1)
      when 'google-oauth-token' then regexp_extract(found, '^(ya29[.][0-9A-Za-z_-]{40,})', 1)
      when 'stripe-key' then regexp_extract(found, '^([sr]k_live_[0-9A-Za-z]{20,255})', 1)
      when 'hugging-face-token' then regexp_extract(found, '^(hf_[A-Za-z]{34})(?:[^0-9A-Za-z_]|$)', 1)
      when 'npm-token' then regexp_extract(found, '^(npm_[0-9A-Za-z]{36})(?:[^0-9A-Za-z_]|$)', 1)
      when 'pypi-token' then regexp_extract(found, '^(pypi-AgE[0-9A-Za-z_-]{50,300})', 1)
      when 'sendgrid-key' then regexp_extract(found, '^(SG[.][0-9A-Za-z_-]{20,24}[.][0-9A-Za-z_-]{39,50})', 1)
      when 'digitalocean-token' then regexp_extract(found, '^(do[op]_v1_[a-f0-9]{64})', 1)
      when 'docker-token' then regexp_extract(found, '^(dckr_pat_[0-9A-Za-z_-]{20,60})', 1)
      when 'age-key' then regexp_extract(found, '^AGE-SECRET-KEY-1([0-9A-Z]{58})', 1)
      when 'json-web-token'
        then regexp_extract(found, '^(eyJ[0-9A-Za-z_-]{10,}[.]eyJ[0-9A-Za-z_-]{10,}[.][0-9A-Za-z_-]{20,})', 1)
      else regexp_extract(
        found, '^(sk-[0-9A-Za-z_-]{32,300})|^((?:gsk_|xai-|r8_|pplx-)[0-9A-Za-z]{36,120})(?:[^0-9A-Za-z_]|$)', 0
      )
    end as secret
  from classified_match
),
-- Each secret once: the rest is about its letters, not about where it stands.
distinct_secret as (
  select pattern, secret from extracted_secret where secret <> '' group by pattern, secret
),
-- How often each letter occurs in a secret.
letter_count as (
  select pattern, secret, letter, count(*) as times
  from (select pattern, secret, unnest(string_split(secret, '')) as letter from distinct_secret) spelt
  where letter <> ''
  group by pattern, secret, letter
),
-- How many different letters a secret has, and its entropy in bits per letter.
letter_spread as (
  select
    pattern, secret,
    count(*) as distinct_letters,
    ln(sum(times)) / ln(2) - sum(times * ln(times)) / sum(times) / ln(2) as entropy
  from letter_count
  group by pattern, secret
),
-- Secrets that are no placeholder, no example and no plain word.
genuine_secret as (
  select pattern, secret
  from letter_spread
  where case
    when pattern = 'private-key' then length(secret) >= 60 and distinct_letters >= 8
    when distinct_letters < least(8, length(secret)) then false
    when regexp_matches(
      lower(secret),
      'example|sample|your[_-]?|placeholder|dummy|fake|redacted|change[_-]?me|insert|replace|<|[$][{]|[{][{]'
        || '|[.][.][.]|[*][*][*]|xxxx|test[_-]|[_-]test|(?:^|[^a-z])test(?:[^a-z]|$)|secret|password'
        || '|0{8}|12345678|abcdef|qwert|foobar|deadbeef|notreal'
    ) then false
    when pattern = 'address-password'
      then lower(secret) not in ('postgres', 'admin', 'root', 'guest', 'mysql', 'redis', 'minio123')
        and left(secret, 1) not in ('$', '%', '{', '[', '(')
    when pattern in ('named-secret', 'model-provider-key')
      then entropy >= 3.5
        and regexp_matches(secret, '[0-9]')
        and not regexp_matches(lower(secret), '^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$')
    else true
  end
),
-- These with their places, and how often each occurs there.
secret_in_text as (
  select
    c.place, c.field, c.id, c.turn_id, c.said_at, c.pattern, c.secret,
    left(sha256(c.pattern || ':' || c.secret), 12) as fingerprint,
    count(*) as occurrences,
    -- A key of a known kind is not told twice when a name stands before it.
    max(case when c.pattern <> 'named-secret' then 1 else 0 end)
      over (partition by c.place, c.field, c.id, c.secret) as is_of_known_kind
  from extracted_secret c
  join genuine_secret g on g.pattern = c.pattern and g.secret = c.secret
  group by c.place, c.field, c.id, c.turn_id, c.said_at, c.pattern, c.secret
)
select h.pattern, h.fingerprint, h.place, h.field, h.id, h.turn_id, h.said_at, h.occurrences
from secret_in_text h
join turns t on t.id = h.turn_id
where h.pattern <> 'named-secret' or h.is_of_known_kind = 0
