-- A webhook is known in the queue by its URL without the login, which may change, and which is a secret.

UPDATE webhook_deliveries d
   SET webhook = regexp_replace(d.webhook, '^([A-Za-z]+://)[^/?#]*@', '\1')
 WHERE d.webhook ~ '^[A-Za-z]+://[^/?#]*@'
   -- Two webhooks with one URL had the same event, of which one row is enough.
   AND NOT EXISTS (SELECT 1 FROM webhook_deliveries o
                    WHERE o.application_id = d.application_id AND o.event_id = d.event_id AND o.webhook <> d.webhook
                      AND regexp_replace(o.webhook, '^([A-Za-z]+://)[^/?#]*@', '\1')
                          = regexp_replace(d.webhook, '^([A-Za-z]+://)[^/?#]*@', '\1'));
