package main

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
)

func TestVectors(t *testing.T) {
	text, err := os.ReadFile(os.Getenv("VECTORS"))
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Webhooks []struct {
			Name, Secret, Timestamp, Body, Signature string
			ToleranceSeconds, ReceivedAt             int64
			Accepted                                 bool
		}
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors.Webhooks {
		if VerifyWebhook(v.Secret, v.Timestamp, []byte(v.Body), v.Signature, v.ToleranceSeconds, v.ReceivedAt) != v.Accepted {
			t.Error(v.Name)
		}
		if VerifyWebhook(v.Secret, v.Timestamp, []byte(v.Body+" "), v.Signature, v.ToleranceSeconds, v.ReceivedAt) {
			t.Error("accepted a changed body: ", v.Name)
		}
	}
	fmt.Println("verified", len(vectors.Webhooks))
}
