package main

import (
	"encoding/json"
	"fmt"
	"log"
	"os"
)

// Runs the program that is named first, so that one compilation serves all. "vectors" runs the vectors of a file.
func main() {
	name := os.Args[1]
	os.Args = os.Args[1:]
	switch name {
	case "sign-request":
		sign_request()
	case "verify-webhook":
		verify_webhook()
	default:
		vectors(os.Args[1])
	}
}

func vectors(file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		log.Fatal(err)
	}
	var vectors struct {
		Requests []struct{ Name, Secret, Method, Path, Timestamp, Body, Signature string }
		Webhooks []struct {
			Name, Secret, Timestamp, Body, Signature string
			ToleranceSeconds, ReceivedAt             int64
			Accepted                                 bool
		}
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		log.Fatal(err)
	}
	for _, v := range vectors.Requests {
		if SignRequest(v.Secret, v.Method, v.Path, v.Timestamp, []byte(v.Body)) != v.Signature {
			log.Fatal(v.Name)
		}
	}
	for _, v := range vectors.Webhooks {
		if VerifyWebhook(v.Secret, v.Timestamp, []byte(v.Body), v.Signature, v.ToleranceSeconds, v.ReceivedAt) != v.Accepted {
			log.Fatal(v.Name)
		}
		if VerifyWebhook(v.Secret, v.Timestamp, []byte(v.Body+" "), v.Signature, v.ToleranceSeconds, v.ReceivedAt) {
			log.Fatal("accepted a changed body: ", v.Name)
		}
	}
	fmt.Println("verified", len(vectors.Requests)+len(vectors.Webhooks))
}
